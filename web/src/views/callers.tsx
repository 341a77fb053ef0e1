// Who calls the selected function, from which line, and what it calls, as shares of the ticks with it on the stack.
import { For, Show, createMemo, createSignal } from "solid-js";
import { percent, range } from "../figures";
import { Figure, Name, Note, Share } from "../parts";
import { baseName, data, functions, measured, measuredOf, placeOf, text, type Function, type Measured, ticksText } from "../profile";
import { select, selected } from "../state";

interface Side {
  of: Function | null; // null: nobody, itself, or not kept
  label: string;
  places: string[]; // lines of the calls
  measured: Measured;
}

const kMost = 8;
const kRow = 54;
const kBand = 150; // pixels of all ticks, where the ribbons end

/** From each function its calls, and to each. */
const calls = { from: new Map<number, number[]>(), to: new Map<number, number[]>() };
for (let i = 0; i < data.edges.length; i += 5) {
  for (const [map, key] of [[calls.from, data.edges[i]], [calls.to, data.edges[i + 1]]] as const) {
    const list = map.get(key);
    if (list) list.push(i);
    else map.set(key, [i]);
  }
}

const kPseudo: Record<string, string> = { "caller-1": "nobody: it is the outermost", "callee-1": "itself", "callee-2": "paths that were not kept" };

/** Calls put together by function; under recursion parts may add to more than the whole, but none is more. */
function sides(edges: number[], side: "caller" | "callee", whole: number): Side[] {
  const found = new Map<number, { ticks: number; places: Map<string, number> }>();
  for (const at of edges) {
    const id = data.edges[at + (side === "caller" ? 0 : 1)];
    const entry = found.get(id) ?? { ticks: 0, places: new Map() };
    found.set(id, entry);
    entry.ticks += data.edges[at + 4];
    const place = data.edges[at + 3] ? `${baseName(text(data.edges[at + 2]))}:${data.edges[at + 3]}` : "";
    if (place) entry.places.set(place, (entry.places.get(place) ?? 0) + data.edges[at + 4]);
  }
  return [...found]
    .map(([id, { ticks, places }]) => ({
      of: id >= 0 ? functions[id] : null,
      label: id >= 0 ? functions[id].name : kPseudo[side + id],
      places: [...places].sort((a, b) => b[1] - a[1]).map(([place]) => place),
      measured: measuredOf(Math.min(ticks, whole), whole),
    }))
    .sort((a, b) => b.measured.ticks - a.measured.ticks);
}

function placesText(side: Side, verb: string): string {
  if (side.places.length === 0) return "";
  const shown = side.places.slice(0, 2).join(", ");
  return `${verb} ${shown}${side.places.length > 2 ? ` and ${side.places.length - 2} more lines` : ""}`;
}

function Item(props: { of: Side; verb: string }) {
  const inside = () => (
    <>
      <span class="who">
        <Show when={props.of.of} fallback={<span class="pseudo">{props.of.label}</span>}>
          {(of) => <Name of={of()} />}
        </Show>
      </span>
      <span class="value">
        <b>{percent(props.of.measured.share, 1)} %</b> <small>{range(props.of.measured.interval, 1)}</small>
      </span>
      <span class="where">{placesText(props.of, props.verb)}</span>
      <span class="value where">{ticksText(props.of.measured.ticks)}</span>
      <Share of={props.of.measured} most={1} />
    </>
  );
  return (
    <Show when={props.of.of} fallback={<div class="side-row">{inside()}</div>}>
      {(of) => (
        <button type="button" class="side-row" onClick={() => select(of())}>
          {inside()}
        </button>
      )}
    </Show>
  );
}

/** From the rows at one side to the box in the middle, as thick as their shares. */
function Ribbons(props: { sides: Side[]; height: number; mirrored: boolean }) {
  const paths = () => {
    const sum = Math.max(1, props.sides.reduce((total, side) => total + side.measured.share, 0));
    let inner = (props.height - kBand) / 2;
    const first = (props.height - kRow * props.sides.length) / 2;
    return props.sides.map((side, i) => {
      const thick = Math.max(1, (kBand * side.measured.share) / sum);
      const middle = first + kRow * i + kRow / 2;
      const outerThick = Math.min(thick, kRow - 8);
      const [x0, x1] = props.mirrored ? [90, 0] : [0, 90];
      const [a, b, c, d] = [middle - outerThick / 2, inner, inner + thick, middle + outerThick / 2];
      inner += (kBand * side.measured.share) / sum;
      return { side, d: `M${x0} ${a}C45 ${a} 45 ${b} ${x1} ${b}V${c}C45 ${c} 45 ${d} ${x0} ${d}Z` };
    });
  };
  return (
    <svg class="ribbons" viewBox={`0 0 90 ${props.height}`} preserveAspectRatio="none" aria-hidden="true">
      <For each={paths()}>{(path) => <path d={path.d} classList={{ own: path.side.label === kPseudo["callee-1"] }} />}</For>
    </svg>
  );
}

function List(props: { sides: Side[]; verb: string; label: string; all: boolean; showAll: () => void }) {
  const rest = () => props.sides.slice(kMost);
  return (
    <div class="side" role="group" aria-label={props.label}>
      <For each={props.all ? props.sides : props.sides.slice(0, kMost)}>{(side) => <Item of={side} verb={props.verb} />}</For>
      <Show when={!props.all && rest().length > 0}>
        <p class="more">
          <button type="button" class="link" onClick={props.showAll}>
            {rest().length} more
          </button>
          , together {percent(rest().reduce((sum, side) => sum + side.measured.share, 0), 1)} %
        </p>
      </Show>
    </div>
  );
}

export function Callers() {
  const [all, setAll] = createSignal(false);
  const ticks = () => (selected() ? (data.on_stack[selected()!.id] ?? 0) : 0);
  const callers = createMemo(() => sides(calls.to.get(selected()?.id ?? -9) ?? [], "caller", ticks()));
  const callees = createMemo(() => sides(calls.from.get(selected()?.id ?? -9) ?? [], "callee", ticks()));
  const shown = (list: Side[]) => (all() ? list.length : Math.min(list.length, kMost));
  const height = () => Math.max(kBand + 20, kRow * Math.max(shown(callers()), shown(callees())));
  return (
    <Show when={selected() && ticks() > 0} fallback={<Note>No kept path has this function on it. Choose another in the table.</Note>}>
      <div class="callers-head" aria-hidden="true">
        <span>Called by (share of the {ticksText(ticks())} with it on the path)</span>
        <span />
        <span>Goes to</span>
      </div>
      <div class="callers" style={{ "--height": `${height()}px` }}>
        <List sides={callers()} verb="from" label="Called by" all={all()} showAll={() => setAll(true)} />
        <Ribbons sides={callers().slice(0, shown(callers()))} height={height()} mirrored={false} />
        <div class="middle">
          <Name of={selected()!} />
          <p>
            <bdi>{selected()!.object}</bdi>
            {placeOf(selected()!) ? " · " : ""}
            <bdi>{placeOf(selected()!)}</bdi>
          </p>
          <p>
            on the path <Figure of={measured(ticks())} />
          </p>
          <p>
            self <Figure of={selected()!.self} />
          </p>
        </div>
        <Ribbons sides={callees().slice(0, shown(callees()))} height={height()} mirrored />
        <List sides={callees()} verb="called at" label="Goes to" all={all()} showAll={() => setAll(true)} />
      </div>
      <Note>
        A tick counts once for each call, however often that call recurs on its path; so under recursion the parts may add up to more than 100
        %. Choose a function to walk on to it.
      </Note>
    </Show>
  );
}
