// What the C++ side writes into the page: src/report/html/. Names are escaped there, for people; here they only ever become text.

export interface Run {
  engine: string;
  event: string | null; // null: ticks are CPU time
  period: number; // nanoseconds, or events
  unit: "tick" | "nanosecond" | "event"; // what `ticks` count: of several runs with different periods no ticks
  runs: number; // recordings that were added up
  recorded: number; // ticks in the recordings, or samples
  recorded_unit: "tick" | "sample";
  rate_hz: number;
  wall_s: number;
  effective_samples: number;
  ticks: number;
  cpu_s: number | null;
  sampled_s: number | null;
  lost_s: number | null;
  unsampled_s: number | null;
  sampled_part: number | null; // of the CPU time, where the shares are of that part alone
  chance_s: number;
}

export interface Warning {
  id: string;
  severity: "note" | "warning" | "incomplete";
  text: string;
}

export interface Paths {
  complete: number;
  folded: number; // of all, those whose path is kept in part
  no_room: number;
  no_total: number; // of calls without room, whose totals are ranges
  cut: { reason: string; ticks: number }[];
}

/** name, full name, object, file (numbers of texts), line, ticks, total: low, high, cut (low -1: none), inlined */
export type FunctionRow = [number, number, number, number, number, number, number, number, number, number];

export type InstructionRow = [offset: number, text: number, ticks: number, target: number];
export type LineRow = [line: number, ticks: number, instructions: InstructionRow[]];
export interface Block {
  name: number; // of the function inlined here; 0: the function itself
  file: number;
  lines: LineRow[];
}
export interface Source {
  function: number;
  problem: string;
  left_out: number; // instructions without ticks that are not here
  blocks: Block[];
}
export interface SourceFile {
  path: number;
  problem: string;
  changed: 0 | 1 | 2; // 1: newer than a program made of it, 2: not what that was compiled from
  lines: (number | string)[]; // number, text, number, text ...
}

export interface Change {
  before: number;
  after: number;
  difference: number;
  low: number;
  high: number;
}
export type Verdict = "undecided" | "more" | "less" | "new" | "gone";
export interface DiffRow {
  name: string;
  object: string;
  functions: number[]; // that are compared as this row, the largest first; none: they are gone
  verdict: Verdict;
  amount: Change;
  share_percent: Change;
  total_verdict: Verdict;
  total: Change | null; // with the function on the stack, where both sides have call paths
  total_share: Change | null;
}
export interface Limit {
  outcome: "PASS" | "FAIL" | "UNDECIDED";
  text: string;
}
export interface Diff {
  unit: string; // of amounts: "ms", smaller where all are small; or the event
  work: number;
  old_runs: number;
  new_runs: number;
  verdict: string;
  cause: string;
  power: string;
  deviation: string; // what is assumed of how runs differ; empty: it was measured
  renamed: string; // which objects are compared under two names; empty: none
  decided: number;
  all_rows: number;
  left_out: { rows: number; amount: number; share_percent: number }; // rows that are not here, and their largest changes
  doubts: string[];
  limits: Limit[]; // as --fail-if and --budget gave them
  rows: DiffRow[];
}

export interface Tree {
  nodes: number[]; // parent, function, ticks, ticks whose path ends there ...
  estimates: number[]; // which of the nodes are: ticks of inlined code, which its callers share
  left_out: number; // nodes too small to be here
}

export interface Data {
  version: number;
  made_by: string;
  view: string;
  title: string;
  commands: string[]; // of all runs, each once; empty unless asked for
  run: Run;
  warnings: Warning[];
  paths: Paths | null;
  texts: string[];
  functions: FunctionRow[];
  bins: Record<string, number[]>;
  from_entry: Tree | null; // from the outermost functions down; null: no call paths
  small_from_leaf: Tree | null; // of the ticks on nodes that from_entry lacks: from what ran to its callers
  /** caller (-1: nobody), callee (-1: itself, -2: not kept), file (-1: the sum of several lines), line, ticks, at most ... */
  edges: number[];
  edges_left_out: { calls: number; ticks: number }; // that are not here, and the most ticks that one of them may have
  on_stack: Record<string, [number, number]>; // ticks with each function on the stack, and at most how many
  annotated_from: number; // of all ticks: functions from here on have a source
  sources: Source[];
  no_source: Record<string, string>; // why others of these have none
  files: SourceFile[];
  diff: Diff | null;
}

export const kVersion = 7;

export function readData(): Data {
  const data = JSON.parse(document.getElementById("data")!.textContent!) as Data;
  if (data.version !== kVersion) throw new Error(`data of version ${data.version} in a page of version ${kVersion}`);
  return data;
}
