// The profile as the views see it: functions, their shares, and who has what.
import { counted, grouped, seconds } from "./figures";
import { readData, type Source, type SourceFile } from "./data";
import { isWideRange, places, wilson, type Interval, type Places } from "./statistics";

export const data = readData();
export const run = data.run;

export interface Measured {
  ticks: number; // at least
  most: number; // and at most: paths that were folded may have more of them
  share: number;
  interval: Interval; // holds all of the range
  isRange: boolean; // the two ends are so far apart that both are to be shown
  isEstimate?: boolean; // and how far off is not known: the interval is that of counting alone
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
  return { ticks, most: ticks, share, interval: wilson(share, run.effective_samples), isRange: false };
}

/** Ticks that were divided in proportion. */
export const estimated = (ticks: number): Measured => ({ ...measured(ticks), isEstimate: true });

/** What is known of it is a range. */
export function measuredRange(low: number, high: number): Measured {
  const least = measured(low);
  const most = measured(high);
  return {
    ...least,
    most: high,
    interval: { low: least.interval.low, high: most.interval.high },
    isRange: isWideRange(least.share, most.share, run.effective_samples),
  };
}

/** Of a part of all ticks, which has its part of the samples: as report --callers has it. */
export function measuredOf(ticks: number, most: number, whole: Measured): Measured {
  const part = (of: number, all: number) => (all > 0 ? Math.min(1, of / all) : 0);
  const samples = whole.share * run.effective_samples;
  const low = part(ticks, whole.most);
  const high = part(most, whole.ticks);
  return {
    ticks,
    most,
    share: whole.ticks > 0 ? ticks / whole.ticks : 0,
    interval: { low: wilson(low, samples).low, high: wilson(high, samples).high },
    isRange: isWideRange(low, high, samples),
  };
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
    total: low < 0 ? null : measuredRange(low, high),
    cut: run.ticks > 0 ? Math.min(cut / run.ticks, 1 - Math.max(0, low) / run.ticks) : 0,
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

const objectsOf = new Map<string, Set<string>>();
for (const { name, full, object } of functions)
  for (const each of [name, full || name]) objectsOf.set(each, (objectsOf.get(each) ?? new Set()).add(object));

/** Whether a function of another object has the same name: where no object stands beside it, it has to. */
export const isInSeveralObjects = (entry: Function) =>
  objectsOf.get(entry.name)!.size > 1 || objectsOf.get(entry.full || entry.name)!.size > 1;

export const hasPaths = (data.from_entry?.nodes.length ?? 0) > 0;
export const hasTotals = rows.some((row) => row.total !== null);
export const sourceOf = new Map<number, Source>(data.sources.map((source) => [source.function, source]));
export const fileOf = new Map<number, SourceFile>(data.files.map((file) => [file.path, file]));

/** "ltable.c:663", or nothing. */
export const placeOf = (entry: Function) => (entry.file ? (entry.line ? `${entry.file}:${entry.line}` : entry.file) : "");

/** "620 ticks"; where periods differ, the CPU time or the events that they stand for. */
export const ticksText = (ticks: number) => (run.unit === "nanosecond" ? seconds(ticks / 1e9) : counted(ticks, run.unit));

/** "101 to 135 ticks" where that is a range. */
export const ticksOf = (of: Measured) =>
  of.most === of.ticks ? ticksText(of.ticks) : `${ticksFigure(of.ticks)} to ${ticksText(of.most)}`;

/** For a column of a table. */
export const ticksFigure = (ticks: number) => (run.unit === "nanosecond" ? seconds(ticks / 1e9) : grouped(ticks));
