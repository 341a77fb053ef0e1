// What changed since other profiles: the answer in words, then each function's change with its interval.
import { For, Show, createMemo, createSignal } from "solid-js";
import type { Change, Diff, DiffRow } from "../data";
import { axisSteps, counted, signed } from "../figures";
import { Choice, NameText, Note } from "../parts";
import { functions, run, type Function } from "../profile";
import { hits, isRowHit } from "../search";
import { allRows, select, selected, setAllRows } from "../state";
import { type Reveal, walkRows, Windowed } from "../windowed";

const kFirst = 40;

type Measure = "amount" | "share";
const [measure, setMeasure] = createSignal<Measure>("amount");

const changeOf = (row: DiffRow): Change => (measure() === "amount" ? row.amount : row.share_percent);
const sizeOf = (row: DiffRow) => Math.abs(changeOf(row).difference);
const functionOf = (row: DiffRow): Function | undefined => functions[row.functions[0]];
const isMore = (row: DiffRow) => row.verdict === "more" || row.verdict === "new";
const isDecided = (row: DiffRow) => row.verdict !== "undecided";

const kNothing = 1e-9; // of scales: nothing is as small as that

/** As many decimals as the size of the figures asks for. */
function decimals(most: number): number {
  if (most >= 1) return most >= 1000 ? 0 : most >= 10 ? 1 : 2;
  return most > kNothing ? 2 - Math.floor(Math.log10(most)) : 3;
}

/** "±0.13", rounded up: no row is above it. */
const limit = (most: number, digits: number) => `±${(Math.ceil(most * 10 ** digits - 1e-6) / 10 ** digits).toFixed(digits)}`;

/** A change around zero, with its interval. */
function Forest(props: { of: Change; most: number }) {
  const at = (value: number) => `${50 + (50 * Math.max(-props.most, Math.min(props.most, value))) / props.most}%`;
  return (
    <span class="forest" aria-hidden="true">
      <s />
      <u style={{ left: at(props.of.low), right: `calc(100% - ${at(props.of.high)})` }} />
      <i style={{ left: at(props.of.difference) }} />
    </span>
  );
}

function ForestAxis(props: { most: number }) {
  const fitting = () => axisSteps(props.most, 3).slice(1);
  const digits = () => Math.max(0, Math.ceil(-Math.log10(fitting()[0] ?? 1) - 1e-9));
  const isWide = (step: number) => signed(step, digits()).length > 4; // two of these to a side would overlap
  const steps = () => (fitting().some(isWide) ? fitting().slice(-1) : fitting());
  const all = () => [...steps().map((step) => -step).reverse(), 0, ...steps()];
  return (
    <span class="axis forest-axis" aria-hidden="true">
      <For each={all()}>{(step) => <span style={{ left: `${50 + (50 * step) / props.most}%` }}>{signed(step, digits())}</span>}</For>
    </span>
  );
}

/** Before and after on one scale. */
function Dumbbell(props: { of: Change; most: number }) {
  const at = (value: number) => `${(100 * Math.max(0, value)) / props.most}%`;
  const low = () => Math.min(props.of.before, props.of.after);
  const high = () => Math.max(props.of.before, props.of.after);
  return (
    <span class="dumbbell" aria-hidden="true">
      <u style={{ left: at(low()), right: `calc(100% - ${at(high())})` }} />
      <i class="before" style={{ left: at(props.of.before) }} />
      <i style={{ left: at(props.of.after) }} />
    </span>
  );
}

/** "s_sin.c:123" of "../sysdeps/ieee754/dbl-64/s_sin.c:123": what tells lines apart stands at the end, and would be cut off. */
const shortLine = (name: string) => /^.*\/([^/]+:\d+)$/.exec(name)?.[1] ?? name;

function RowView(props: { of: DiffRow; most: number; largest: number; unit: string; hasTotals: boolean; index: number; stop: boolean; go: () => void }) {
  const change = () => changeOf(props.of);
  const entry = functionOf(props.of);
  const digits = () => decimals(props.largest);
  const total = () => (measure() === "amount" ? props.of.total : props.of.total_share);
  const chosen = () => props.of.functions.includes(selected()?.id ?? -1);
  return (
    <tr
      aria-selected={chosen()}
      id={`change-${props.index}`}
      aria-rowindex={props.index + 2}
      tabindex={props.stop ? 0 : -1}
      classList={{ open: !isDecided(props.of), more: isDecided(props.of) && isMore(props.of), less: isDecided(props.of) && !isMore(props.of) }}
      onClick={() => props.go()}
    >
      <td class="name-cell">
        <NameText name={shortLine(props.of.name) || "(no name)"} title={entry?.full || props.of.name} hit={isRowHit(props.of)} />
      </td>
      <td class="object">
        <bdi>{props.of.object}</bdi>
      </td>
      <td class="number side-value">{change().before.toFixed(digits())}</td>
      <td class="number side-value">{change().after.toFixed(digits())}</td>
      <td class="dumbbell-cell">
        <Dumbbell of={change()} most={props.largest} />
      </td>
      <td class="number change">
        {isDecided(props.of) ? (isMore(props.of) ? "▲ " : "▼ ") : ""}
        {signed(change().difference, digits())}
      </td>
      <td class="verdict-cell">{props.of.verdict}</td>
      <Show when={props.hasTotals}>
        <td
          class="number total"
          classList={{ open: props.of.total_verdict === "undecided" }}
          title={total() ? `${total()!.before.toFixed(digits())} to ${total()!.after.toFixed(digits())}; ${signed(total()!.low, digits())} to ${signed(total()!.high, digits())} (95 %, this row alone)` : undefined}
        >
          {total() ? signed(total()!.difference, digits()) : ""}
        </td>
      </Show>
      <td class="forest-cell" title={`${signed(change().low, digits())} to ${signed(change().high, digits())} ${props.unit}`}>
        <Forest of={change()} most={props.most} />
      </td>
    </tr>
  );
}

export function Compare(props: { of: Diff }) {
  const hasTotals = props.of.rows.some((row) => row.total);
  const unit = () => (measure() === "amount" ? `${props.of.unit}${props.of.work === 1 ? " a run" : " a unit of work"}` : "points");
  const list = createMemo(() => {
    const chosen = hits() ? props.of.rows.filter(isRowHit) : [...props.of.rows];
    return chosen.sort((a, b) => Number(isDecided(b)) - Number(isDecided(a)) || sizeOf(b) - sizeOf(a));
  });
  const shown = createMemo(() => (allRows() ? list() : list().slice(0, kFirst)));
  const rest = createMemo(() => list().slice(shown().length));
  const largest = createMemo(() => list().reduce((most, row) => Math.max(most, changeOf(row).before, changeOf(row).after), kNothing));
  // Rows that are known to have changed set the scale; wide intervals of others may leave it.
  const most = createMemo(() => {
    const decided = list().filter(isDecided);
    const scale = decided.length > 0 ? decided : list().slice(0, 10);
    const ends = scale.flatMap((row) => [Math.abs(changeOf(row).low), Math.abs(changeOf(row).high)]);
    return Math.max(kNothing, ...ends, ...list().map((row) => Math.abs(changeOf(row).difference))) * 1.1;
  });
  const leftOut = () => props.of.left_out;
  const [current, setCurrent] = createSignal(0);
  let reveal: Reveal = () => undefined;
  function go(index: number) {
    setCurrent(index);
    select(functionOf(shown()[index]) ?? null); // one that is gone is no function of this profile
  }
  const onKey = (event: KeyboardEvent) =>
    walkRows(event, current(), shown().length, reveal, (index) => {
      go(index);
      return `change-${index}`;
    });
  return (
    <>
      <Show when={props.of.limits.length > 0}>
        <ul class="limits" aria-label="Limits">
          <For each={props.of.limits}>
            {(limit) => (
              <li class={limit.outcome.toLowerCase()}>
                <b>{limit.outcome}</b> {limit.text}
              </li>
            )}
          </For>
        </ul>
      </Show>
      <For each={props.of.doubts}>{(doubt) => <p class="doubt">{doubt}</p>}</For>
      <Note>
        {props.of.decided === 0
          ? `None of ${counted(props.of.all_rows, "row")} is shown to have changed; they are undecided, not unchanged.`
          : `${props.of.decided} of ${counted(props.of.all_rows, "row")} changed by more than chance: of these at most one in twenty is expected to be wrong. The others are undecided, not unchanged.`}{" "}
        {props.of.power} {props.of.deviation} {props.of.renamed}
        {props.of.old_runs === 1 && props.of.new_runs === 1
          ? ""
          : ` ${counted(props.of.old_runs, "run")} before, ${props.of.new_runs} after; the other views show ${run.runs === props.of.new_runs ? "the new ones added up" : "the first of the new ones"}.`}
      </Note>
      <div class="tools compare-tools">
        <Choice
          label="Of"
          options={[{ id: "amount", label: run.event === null ? "CPU time" : "events" }, { id: "share", label: "share" }]}
          value={measure()}
          set={setMeasure}
        />
        <span>in {unit()}</span>
        <span class="legend">
          <span class="dot-key before">before</span>
          <span class="dot-key">after</span>
          <span class="more-key">▲ more</span>
          <span class="less-key">▼ less</span>
          <span>grey: undecided</span>
        </span>
      </div>
      <table class="compare" role="grid" aria-label="Rows with what changed" aria-rowcount={list().length + 1} onKeyDown={onKey}>
        <thead>
          <tr>
            <th scope="col" class="name-cell">
              Name
            </th>
            <th scope="col" class="object">
              Object
            </th>
            <th scope="col" class="number side-value">
              Before
            </th>
            <th scope="col" class="number side-value">
              After
            </th>
            <th scope="col" class="dumbbell-cell">
              <span class="vh">Before and after, drawn</span>
            </th>
            <th scope="col" class="number change">
              Change
            </th>
            <th scope="col" class="verdict-cell">
              Verdict
            </th>
            <Show when={hasTotals}>
              <th scope="col" class="number total" title="Change of the ticks with the function on the call path">
                Total
              </th>
            </Show>
            <th scope="col" class="forest-cell">
              <span class="vh">Change with its interval, drawn</span>
              <ForestAxis most={most()} />
            </th>
          </tr>
        </thead>
        <Windowed rows={shown()} columns={hasTotals ? 9 : 8} current={current()} handle={(given) => (reveal = given)}>
          {(row, index, isStop) => (
            <RowView
              of={row}
              most={most()}
              largest={largest()}
              unit={unit()}
              hasTotals={hasTotals}
              index={index()}
              stop={isStop()}
              go={() => go(index())}
            />
          )}
        </Windowed>
      </table>
      <Show when={rest().length > 0}>
        <p class="more">
          {counted(rest().length, "more row")}, none above {limit(rest().reduce((most, row) => Math.max(most, sizeOf(row)), 0), decimals(largest()))}{" "}
          {unit()}.{" "}
          <button type="button" class="link" onClick={() => setAllRows(true)}>
            Show all
          </button>
        </p>
      </Show>
      <Show when={leftOut().rows > 0}>
        <p class="more">
          {counted(leftOut().rows, "row")} {leftOut().rows === 1 ? "is" : "are"} not in this page, none above{" "}
          {limit(measure() === "amount" ? leftOut().amount : leftOut().share_percent, decimals(largest()))} {unit()}.
        </p>
      </Show>
    </>
  );
}
