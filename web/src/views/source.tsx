// Annotated source: lines with their ticks, and below each the instructions made of it.
import { For, Show, createEffect, createMemo, createSignal, on } from "solid-js";
import type { Block, InstructionRow, LineRow, Source as Annotated } from "../data";
import { counted, percent, range } from "../figures";
import { Choice, Note, Share } from "../parts";
import { baseName, data, fileOf, functions, measured, sourceOf, text, type Function, type Measured, ticksText } from "../profile";
import { select, selected } from "../state";
import { LanesOfRow, lanesOf, lanesWidth, type Jump, type Lanes } from "./jumps";

const kHot = 0.05; // of the function's ticks: lines whose instructions are shown at first

type Shown = "hot" | "all" | "none";
const [shown, setShown] = createSignal<Shown>("hot");

/** A row of a listing. */
type Row =
  | { kind: "line"; number: number; text: string; of: Measured | null }
  | { kind: "gap"; count: number }
  | { kind: "instruction"; at: InstructionRow; of: Measured };

function linesOf(block: Block): Map<number, string> {
  const lines = fileOf.get(block.file)?.lines ?? [];
  const map = new Map<number, string>();
  for (let i = 0; i < lines.length; i += 2) map.set(lines[i] as number, lines[i + 1] as string);
  return map;
}

const ticksOfBlock = (block: Block) => block.lines.reduce((sum, line) => sum + line[1], 0);

const isHot = (line: LineRow, all: number) => line[1] >= kHot * all;

/** Which instructions of a line stand below it: of hot lines those with ticks and jumps, of all where these lead. */
function below(line: LineRow, all: number, targets: Set<number>): InstructionRow[] {
  if (shown() === "none") return [];
  if (shown() === "all") return line[2];
  return line[2].filter(([at, , ticks, leads]) => targets.has(at) || (isHot(line, all) && (ticks > 0 || leads >= 0)));
}

/** Lines with code and what stands around them; without its source the lines alone. */
function rowsOf(block: Block, all: number): Row[] {
  const source = linesOf(block);
  const coded = new Map(block.lines.map((line) => [line[0], line]));
  const numbers = new Set(coded.keys());
  for (const number of coded.keys()) for (let near = number - 3; near <= number + 3; ++near) if (source.has(near)) numbers.add(near);
  const targets = new Set(block.lines.filter((line) => isHot(line, all)).flatMap((line) => line[2].map((instruction) => instruction[3])));
  const rows: Row[] = [];
  let last = 0;
  for (const number of [...numbers].sort((a, b) => a - b)) {
    if (last > 0 && number > last + 1) rows.push({ kind: "gap", count: number - last - 1 });
    last = number;
    const line = coded.get(number);
    rows.push({ kind: "line", number, text: source.get(number) ?? "", of: line && line[1] > 0 ? measured(line[1]) : null });
    for (const instruction of line ? below(line, all, targets) : []) rows.push({ kind: "instruction", at: instruction, of: measured(instruction[2]) });
  }
  return rows;
}

/** Where both ends are shown. */
function jumpsOf(rows: Row[]): Jump[] {
  const rowAt = new Map<number, number>();
  rows.forEach((row, i) => row.kind === "instruction" && rowAt.set(row.at[0], i));
  return rows.flatMap((row, from) => {
    if (row.kind !== "instruction" || row.at[3] < 0) return [];
    const to = rowAt.get(row.at[3]);
    return to === undefined ? [] : [{ from, to, loop: row.at[3] <= row.at[0] }];
  });
}

const hex = (value: number) => `+${value.toString(16)}`;

function RowView(props: { of: Row; most: number; id: string; index: number; lanes: Lanes }) {
  const row = props.of;
  const drawing = <LanesOfRow lanes={props.lanes} row={props.index} height={row.kind === "line" ? 19 : 17} />;
  if (row.kind === "gap")
    return (
      <div class="code-gap">
        {drawing}
        <span>⋯ {counted(row.count, "line")} without ticks</span>
      </div>
    );
  const heat = row.of ? Math.min(1, row.of.share / Math.max(1e-9, props.most)) : 0;
  return (
    <div
      class="code-row"
      id={row.kind === "line" ? `${props.id}-${row.number}` : undefined}
      classList={{ instruction: row.kind === "instruction", hot: row.kind === "line" && heat > 0.02 }}
      style={{ "--heat": String(heat) }}
    >
      <span class="t" title={row.of && row.of.ticks > 0 ? `${range(row.of.interval)} %, ${ticksText(row.of.ticks)}` : undefined}>
        {row.of && row.of.ticks > 0 ? `${percent(row.of.share)} %` : ""}
      </span>
      <Show when={row.of && row.of.ticks > 0} fallback={<span />}>
        <Share of={row.of!} most={props.most} />
      </Show>
      <span class="at">{row.kind === "line" ? row.number || "" : hex(row.at[0])}</span>
      <span class="jumps">{drawing}</span>
      <code>
        <bdi>{row.kind === "line" ? row.text || (row.number === 0 ? "(no line)" : "") : text(row.at[1]) || "(not readable)"}</bdi>
        {row.kind === "instruction" && row.at[3] >= 0 ? ` → ${hex(row.at[3])}` : ""}
      </code>
    </div>
  );
}

function BlockView(props: { of: Block; all: number; index: number }) {
  const rows = createMemo(() => rowsOf(props.of, props.all));
  const lanes = createMemo(() => lanesOf(jumpsOf(rows())));
  const most = createMemo(() => props.of.lines.reduce((high, line) => Math.max(high, measured(line[1]).interval.high * (line[1] > 0 ? 1 : 0)), 0));
  const file = () => fileOf.get(props.of.file);
  return (
    <section aria-label={`${text(props.of.name) || "own code"}, ${text(props.of.file)}`}>
      <p class="block-head">
        <bdi class="name">{text(props.of.name) || "own code"}</bdi> {text(props.of.name) ? "inlined here" : ""}
        <span title={text(props.of.file)}>
          <bdi>{baseName(text(props.of.file)) || "file not known"}</bdi>
        </span>
        <span>
          {ticksText(ticksOfBlock(props.of))}, {percent(ticksOfBlock(props.of) / Math.max(1, props.all), 1)} % of the function
        </span>
        <Show when={file()?.problem}>{(problem) => <span class="soft">source: {problem()}</span>}</Show>
        <Show when={file()?.changed}>
          {(changed) => (
            <span class="doubt">
              the source {changed() === 1 ? "is newer than the program" : "has another MD5 than when it was compiled"}: lines may have moved
            </span>
          )}
        </Show>
      </p>
      <div
        class="code"
        tabindex="0"
        role="group"
        aria-label="Lines and instructions"
        style={{ "--jumps": `${lanesWidth(lanes())}px` }}
      >
        <For each={rows()}>
          {(row, i) => <RowView of={row} most={most()} id={`line-${props.index}`} index={i()} lanes={lanes()} />}
        </For>
      </div>
    </section>
  );
}

/** The lines with most ticks, as jumps. */
function Hottest(props: { blocks: Block[] }) {
  const list = () =>
    props.blocks
      .flatMap((block, index) => block.lines.map((line) => ({ index, line, block })))
      .filter(({ line }) => line[1] > 0 && line[0] > 0)
      .sort((a, b) => b.line[1] - a.line[1])
      .slice(0, 6);
  const jump = (index: number, line: number) => document.getElementById(`line-${index}-${line}`)?.scrollIntoView({ block: "center" });
  return (
    <Show when={list().length > 1}>
      <p class="hottest">
        Hottest lines{" "}
        <For each={list()}>
          {({ index, line, block }) => (
            <button type="button" class="link" onClick={() => jump(index, line[0])}>
              <bdi>{baseName(text(block.file))}</bdi>:{line[0]} <b>{percent(measured(line[1]).share, 1)} %</b>
            </button>
          )}
        </For>
      </p>
    </Show>
  );
}

function whyNoSource(of: Function): string {
  if (of.inlined) return "it was inlined, or stands for a path";
  if (of.self.share < data.annotated_from) return `it has less than ${percent(data.annotated_from, 1)} % of the ticks`;
  return data.no_source[of.id] ?? "its code is not known";
}

/** Which instructions the page, and this choice, leave out. */
function leftOut(source: Annotated): string {
  if (shown() === "hot" && !source.problem)
    return ` Instructions stand below lines with at least ${percent(kHot, 0)} % of the function's ticks: those with ticks, jumps, and where jumps lead.`;
  if (shown() !== "all" || source.left_out === 0) return "";
  return ` ${counted(source.left_out, "instruction")} without ticks ${source.left_out === 1 ? "is" : "are"} left out: all but three on either side of one with ticks, and where a jump leads.`;
}

/** Why it is not here, and the first that is. */
function NoSource() {
  const first = functions[data.sources[0].function];
  const entry = () => selected();
  return (
    <Note>
      <Show when={entry()}>
        {(of) => (
          <>
            <bdi>{of().name}</bdi> has no source here: <bdi>{whyNoSource(of())}</bdi>.{" "}
          </>
        )}
      </Show>
      <button type="button" class="link" onClick={() => select(first)}>
        Show <bdi>{first.name}</bdi>
      </button>
      , the first that has one.
    </Note>
  );
}

export const nextShown = () => setShown({ hot: "all", all: "none", none: "hot" }[shown()] as Shown);

export function Source() {
  const source = () => sourceOf.get(selected()?.id ?? -1);
  const all = () => selected()?.self.ticks ?? 0;
  createEffect(on(selected, () => scrollTo({ top: Math.min(scrollY, document.getElementById("panel")?.offsetTop ?? 0) }), { defer: true }));
  return (
    <>
      <div class="tools">
        <label>
          Function{" "}
          <select
            onChange={(event) => select(functions[Number(event.currentTarget.value)])}
            aria-label="Functions with annotated source, most ticks first"
          >
            <Show when={!source()}>
              <option selected>choose one</option>
            </Show>
            <For each={data.sources}>
              {(entry) => (
                <option value={entry.function} selected={selected()?.id === entry.function}>
                  {percent(functions[entry.function].self.share, 1)} % {functions[entry.function].name.slice(0, 80)}
                </option>
              )}
            </For>
          </select>
        </label>
        <Choice
          label="Instructions"
          options={[{ id: "hot", label: "of hot lines" }, { id: "all", label: "all" }, { id: "none", label: "none" }]}
          value={shown()}
          set={setShown}
        />
      </div>
      <Show when={source()} keyed fallback={<NoSource />}>
        {(entry) => (
          <>
            <Hottest blocks={entry.blocks} />
            <Show when={entry.problem}>
              <Note>No instructions: {entry.problem}.</Note>
            </Show>
            <For each={entry.blocks}>
              {(block, i) => (
                <Show when={i() === 0 || shown() === "all" || ticksOfBlock(block) > 0}>
                  <BlockView of={block} all={all()} index={i()} />
                </Show>
              )}
            </For>
            <Note>
              {ticksText(all())} of the function, as shares of all ticks; the whisker is a 95 % interval. A tick lands on the instruction that
              was about to run: the one that took the time is often the one before it. Arrows are jumps between instructions shown; dark ones lead back: a loop.{leftOut(entry)}
            </Note>
          </>
        )}
      </Show>
    </>
  );
}
