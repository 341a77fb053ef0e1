// Colours of frames and tiles: by what they belong to, the largest first; what does not fit in eight is grey. Lightness differs, too, so
// that they stay apart for all eyes and in print.
import { data, rows, type Function, type Measured } from "./profile";

// hue, added lightness, factor of chroma
const kPalette = [
  [250, 0, 1], [60, 0, 1], [165, -0.075, 1], [330, 0.045, 0.7], [98, 0.05, 0.85], [205, -0.055, 1], [290, -0.1, 1], [25, -0.1, 1],
];

const color = (hue: number, added: number, factor: number) =>
  `oklch(calc(var(--lightness) + ${added}) calc(var(--chroma) * ${factor}) ${hue})`;

const kGrey = color(260, 0.02, 0.1);

export type ColorBy = "file" | "object" | "certainty" | "change";

const keyOf = (by: "file" | "object", entry: Function) => (by === "file" ? entry.path : "") || entry.object;

function legendOf(by: "file" | "object"): Map<string, string> {
  const ticks = new Map<string, number>();
  for (const row of rows) ticks.set(keyOf(by, row), (ticks.get(keyOf(by, row)) ?? 0) + row.self.ticks);
  const largest = [...ticks].filter(([key]) => key !== "").sort((a, b) => b[1] - a[1]);
  return new Map(largest.slice(0, kPalette.length).map(([key], i) => [key, color(kPalette[i][0], kPalette[i][1], kPalette[i][2])]));
}

const legends = { file: legendOf("file"), object: legendOf("object") };
export const legend = (by: "file" | "object") => [...legends[by]];

/** How wide the interval is beside the share, in five steps. */
export const kCertainty = [
  { below: 0.05, label: "± 5 % of it", color: color(250, 0, 1) },
  { below: 0.1, label: "10 %", color: color(250, 0, 0.72) },
  { below: 0.2, label: "20 %", color: color(250, 0, 0.45) },
  { below: 0.5, label: "50 %", color: color(250, 0, 0.22) },
  { below: Infinity, label: "more", color: kGrey },
];

export function certaintyOf(of: Measured): number {
  const half = Math.max(of.interval.high - of.share, of.share - of.interval.low);
  const relative = of.share > 0 ? half / of.share : Infinity;
  return kCertainty.findIndex((step) => relative < step.below || step.below === Infinity);
}

const verdicts = new Map((data.diff?.rows ?? []).flatMap((row) => row.functions.map((id) => [id, row.verdict] as const)));

/** Of a function since the profiles it is compared with; "undecided" if nothing is known of it. */
export const verdictOf = (entry: Function) => verdicts.get(entry.id) ?? "undecided";

const kRose = color(40, 0, 1.5);
const kFell = color(205, -0.03, 1.5);

function changeColor(entry: Function): string {
  const verdict = verdictOf(entry);
  return verdict === "more" || verdict === "new" ? kRose : verdict === "less" ? kFell : kGrey;
}
export const kChanges = [["more", kRose], ["less", kFell], ["no change shown", kGrey]];

export const kEstimate = kGrey;
const certaintyColor = (of: Measured) => (of.isEstimate ? kEstimate : kCertainty[certaintyOf(of)].color);

/** What a reader may colour by, and what is chosen at first. */
export const kColorings: { id: ColorBy; label: string }[] = [
  { id: "file", label: "file" },
  { id: "object", label: "object" },
  { id: "certainty", label: "certainty" },
  ...(data.diff ? [{ id: "change" as const, label: "change" }] : []),
];
export const kFirstColoring: ColorBy = legends.file.size > 2 ? "file" : "object";

/** Of a function, drawn with these ticks. */
export function colorOf(by: ColorBy, entry: Function, of: Measured): string {
  if (by === "certainty") return certaintyColor(of);
  return by === "change" ? changeColor(entry) : (legends[by].get(keyOf(by, entry)) ?? kGrey);
}
