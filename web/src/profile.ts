// The profile as the views see it: functions, their shares, and who has what.
import { counted, grouped, seconds } from "./figures";
import { readData, type Source, type SourceFile } from "./data";
import { places, wilson, type Interval, type Places } from "./statistics";

export const data = readData();
export const run = data.run;

export interface Measured {
  ticks: number;
  share: number;
  interval: Interval;
}

export interface Function {
  id: number;
  name: string;
  full: string;
  object: string;
  path: string; // of its source; empty: not known
  file: string; // the last part of it
  line: number;
  self: Measured;
  total: Measured | null; // null: no call paths
  cut: number; // share that the total could gain at most from paths that are cut
  inlined: boolean; // only ever seen inlined, or a cut: on stacks, not in the table
  places: Places | null;
}

export const text = (number: number) => data.texts[number];
export const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** Of all ticks. */
export function measured(ticks: number): Measured {
  const share = run.ticks > 0 ? ticks / run.ticks : 0;
  return { ticks, share, interval: wilson(share, run.effective_samples) };
}

/** Of a part of all ticks, which has its part of the samples. */
export function measuredOf(ticks: number, whole: number): Measured {
  const share = whole > 0 ? ticks / whole : 0;
  const samples = run.ticks > 0 ? (run.effective_samples * whole) / run.ticks : 0;
  return { ticks, share, interval: wilson(share, samples) };
}

function total(low: number, high: number): Measured | null {
  if (low < 0) return null;
  const result = measured(low);
  return { ...result, interval: { low: result.interval.low, high: measured(high).interval.high } };
}

export const functions: Function[] = data.functions.map(
  ([name, full, object, file, line, ticks, low, high, cut, inlined], id) => ({
    id,
    name: text(name) || "(no name)",
    full: text(full),
    object: text(object),
    path: text(file),
    file: baseName(text(file)),
    line,
    self: measured(ticks),
    total: total(low, high),
    cut: run.ticks > 0 ? cut / run.ticks : 0,
    inlined: inlined !== 0,
    places: null,
  }),
);

/** Rows of the table: those with ticks of their own or a total, the most first. */
export const rows = functions.filter((entry) => !entry.inlined);
{
  const ticked = rows.filter((row) => row.self.ticks > 0);
  places(ticked.map((row) => row.self.interval)).forEach((place, i) => (ticked[i].places = place));
}

export const hasPaths = data.nodes.length > 0;
export const hasTotals = rows.some((row) => row.total !== null);
export const sourceOf = new Map<number, Source>(data.sources.map((source) => [source.function, source]));
export const fileOf = new Map<number, SourceFile>(data.files.map((file) => [file.path, file]));

/** "ltable.c:663", or nothing. */
export const placeOf = (entry: Function) => (entry.file ? (entry.line ? `${entry.file}:${entry.line}` : entry.file) : "");

/** "620 ticks"; where periods differ, the CPU time or the events that they stand for. */
export const ticksText = (ticks: number) => (run.unit === "nanosecond" ? seconds(ticks / 1e9) : counted(ticks, run.unit));

/** For a column of a table. */
export const ticksFigure = (ticks: number) => (run.unit === "nanosecond" ? seconds(ticks / 1e9) : grouped(ticks));
