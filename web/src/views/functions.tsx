// The table: self and total with their intervals, and what the order is worth.
import { For, Show, createMemo, createSignal } from "solid-js";
import { counted, fromTo, percent, range } from "../figures";
import { Axis, Name, Note, Share } from "../parts";
import { data, hasPaths, hasTotals, rows, run, sourceOf, type Function, ticksFigure, ticksOf, ticksText } from "../profile";
import { hits } from "../search";
import { allRows, open, select, selected, setAllRows } from "../state";
import { type Reveal, walkRows, Windowed } from "../windowed";

type Key = "self" | "total" | "name" | "object";

const kFirst = 40; // rows shown at first
const kFound = 100; // of those that a search finds

const kOrders: Record<Key, (a: Function, b: Function) => number> = {
  self: (a, b) => b.self.ticks - a.self.ticks,
  total: (a, b) => (b.total?.ticks ?? 0) - (a.total?.ticks ?? 0),
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  object: (a, b) => (a.object < b.object ? -1 : a.object > b.object ? 1 : b.self.ticks - a.self.ticks),
};

const [key, setKey] = createSignal<Key>("self");
const [upside, setUpside] = createSignal(false);

function sortBy(next: Key) {
  if (key() === next) setUpside(!upside());
  else setUpside(false);
  setKey(next);
}

const hasRanges = rows.some((row) => row.total?.isRange);

const mostSelf = rows.reduce((most, row) => Math.max(most, row.self.interval.high * (row.self.ticks > 0 ? 1 : 0)), 0.001);

function Spark(props: { of: Function }) {
  const bins = () => data.bins[props.of.id];
  return (
    <Show when={bins()}>
      {(list) => {
        const most = Math.max(...list());
        return (
          <svg class="spark" viewBox={`0 0 ${list().length * 4} 13`} preserveAspectRatio="none" aria-hidden="true">
            <For each={list()}>
              {(ticks, i) => (
                <Show when={ticks > 0}>
                  <rect x={i() * 4} width="3" y={13 - 13 * Math.sqrt(ticks / most)} height={13 * Math.sqrt(ticks / most)} />
                </Show>
              )}
            </For>
          </svg>
        );
      }}
    </Show>
  );
}

function Heading(props: { by: Key; children: string; class?: string }) {
  const direction = () => {
    if (key() !== props.by) return undefined;
    const falls = props.by === "self" || props.by === "total";
    return falls !== upside() ? "descending" : "ascending";
  };
  return (
    <th scope="col" class={props.class} aria-sort={direction()}>
      <button type="button" onClick={() => sortBy(props.by)}>
        {props.children}
      </button>
    </th>
  );
}

const placeText = (row: Function) => {
  if (!row.places) return "";
  const { first, last } = row.places;
  return first === last ? String(first) : `${first}–${last}`;
};

function Row(props: { of: Function; gap: boolean; index: number; stop: boolean }) {
  const chosen = () => selected() === props.of;
  return (
    <tr
      id={`row-${props.of.id}`}
      aria-rowindex={props.index + 2}
      aria-selected={chosen()}
      tabindex={props.stop ? 0 : -1}
      classList={{ gap: props.gap }}
      onClick={() => select(props.of)}
      onDblClick={() => enter(props.of)}
    >
      <td class="places">{placeText(props.of)}</td>
      <td class="number">{percent(props.of.self.share)}</td>
      <td class="range">{props.of.self.ticks > 0 ? range(props.of.self.interval) : ""}</td>
      <td class="bar-cell">
        <Share of={props.of.self} most={mostSelf} />
      </td>
      <td class="name-cell">
        <Name of={props.of} />
      </td>
      <td class="object">
        <bdi title={props.of.object}>{props.of.object}</bdi>
      </td>
      <td class="spark-cell">
        <Spark of={props.of} />
      </td>
      <td class="number ticks">{ticksFigure(props.of.self.ticks)}</td>
      <Show when={hasTotals}>
        <td class="number total" title={totalTitle(props.of)}>
          <Show when={props.of.total}>{(total) => (total().isRange ? fromTo(total().interval) : percent(total().share))}</Show>
          <Show when={isCut(props.of)}>
            <span aria-hidden="true">+</span>
            <span class="vh">, cut paths could add {percent(props.of.cut, 1)}</span>
          </Show>
        </td>
        <td class="total-bar">
          <Show when={props.of.total}>{(total) => <Share of={total()} most={1} soft />}</Show>
        </td>
      </Show>
    </tr>
  );
}

const rangeText = (data.paths?.folded ?? 0) === 0 ? "paths of several symbols" : "folded paths";

const isCut = (row: Function) => row.total !== null && row.cut >= 0.005;

function totalTitle(row: Function): string | undefined {
  const { total } = row;
  if (!total) return undefined;
  const interval = `${range(total.interval)} %, ${ticksOf(total)}`;
  const folded = total.isRange ? `; ${rangeText} may hold more of it` : "";
  return interval + folded + (isCut(row) ? `; cut paths could add ${percent(row.cut, 1)} points` : "");
}

function enter(row: Function) {
  if (sourceOf.has(row.id)) open("source", row);
  else if (hasPaths) open("callers", row);
}

export function Functions() {
  const list = createMemo(() => {
    const found = hits();
    const chosen = found ? rows.filter((row) => found.has(row.id)) : [...rows];
    chosen.sort(kOrders[key()]);
    return upside() ? chosen.reverse() : chosen;
  });
  const shown = createMemo(() => allRows() ? list() : list().slice(0, hits() ? kFound : kFirst));
  const rest = createMemo(() => list().slice(shown().length));
  // A rule stands under a row where all below it are certainly smaller.
  const gaps = createMemo(() => {
    const below = new Set<Function>();
    if (key() !== "self" || upside() || hits()) return below;
    shown().forEach((row, i) => {
      if (row.places && row.places.last === i + 1 && i + 1 < list().length) below.add(row);
    });
    return below;
  });

  let reveal: Reveal = () => undefined;
  function onKey(event: KeyboardEvent) {
    const at = shown().indexOf(selected()!);
    if (event.key === "Enter" && at >= 0 && !(event.target instanceof HTMLButtonElement)) {
      event.preventDefault();
      enter(shown()[at]);
      return;
    }
    walkRows(event, at, shown().length, reveal, (index) => {
      select(shown()[index]);
      return `row-${shown()[index].id}`;
    });
  }

  return (
    <>
      <table class="functions" classList={{ ranged: hasRanges }} role="grid" aria-label="Functions with their shares" aria-rowcount={list().length + 1} onKeyDown={onKey}>
        <thead>
          <tr>
            <th scope="col" class="places" title="The places that the intervals allow">
              Rank
            </th>
            <Heading by="self" class="number">
              Self
            </Heading>
            <th scope="col" class="range">
              95 %
            </th>
            <th scope="col" class="bar-cell">
              <span class="vh">Self, drawn</span>
              <Axis most={mostSelf} />
            </th>
            <Heading by="name" class="name-cell">
              Function
            </Heading>
            <Heading by="object" class="object">
              Object
            </Heading>
            <th scope="col" class="spark-cell">
              Where in it
            </th>
            <th scope="col" class="number ticks">
              {run.unit === "tick" ? "Ticks" : run.unit === "event" ? "Events" : "Time"}
            </th>
            <Show when={hasTotals}>
              <Heading by="total" class="number total">
                Total
              </Heading>
              <th scope="col" class="total-bar">
                <span class="vh">Total, drawn</span>
                <Axis most={1} wanted={2} />
              </th>
            </Show>
          </tr>
        </thead>
        <Windowed rows={shown()} columns={hasTotals ? 10 : 8} current={shown().indexOf(selected()!)} handle={(given) => (reveal = given)}>
          {(row, index, isStop) => <Row of={row} gap={gaps().has(row)} index={index()} stop={isStop()} />}
        </Windowed>
      </table>
      <Show when={rest().length > 0}>
        <p class="more">
          {counted(rest().length, "more row")}, together {percent(rest().reduce((sum, row) => sum + row.self.ticks, 0) / Math.max(1, run.ticks))}{" "}
          %, none above {percent(rest().reduce((most, row) => Math.max(most, row.self.share), 0))} %.{" "}
          <button type="button" class="link" onClick={() => setAllRows(true)}>
            Show all
          </button>
        </p>
      </Show>
      <Show when={list().length === 0 && hits()}>
        <Note>
          {hits()!.size === 0 ? "No function has all of these words." : "What has all of these words has no row: it was inlined, or stands for a path."}
        </Note>
      </Show>
      <Show when={rows.length > 0}>
        <Note>
          Shares are of all {ticksText(run.ticks)}, in percent; self time leaves out what a function called. The whisker is a 95 %
          confidence interval, the rank the places that it allows; a dark rule stands where everything below is certainly less.
          {hasTotals ? " Total is with the function on the call path; + where cut paths could add half a point or more." : ""}
          {hasRanges ? ` “x to y %”: ${rangeText} may hold more of its ticks; what they may hold is hatched.` : ""}
        </Note>
      </Show>
    </>
  );
}
