// Who calls the selected function, from which line, and what it calls, as shares of the ticks with it on the stack.
import { For, Show, createMemo, createSignal } from "solid-js";
import { counted, fromTo, percent, range } from "../figures";
import { Figure, Name, Note, ObjectAndPlace, Share } from "../parts";
import { baseName, data, functions, isInSeveralObjects, measuredOf, measuredRange, text, type Function, type Measured, ticksOf, ticksText } from "../profile";
import { select, selected } from "../state";

interface Side {
  of: Function | null; // null: nobody, itself, or not kept
  label: string;
  places: [place: string, ticks: string][]; // lines of the calls
  measured: Measured;
}

const kMost = 8;
const kRow = 54;
const kBand = 150; // pixels of all ticks, where the ribbons end

const kEdge = 6; // figures of a call
const kAllLines = -1;

/** From each function its calls, and to each. */
const calls = { from: new Map<number, number[]>(), to: new Map<number, number[]>() };
for (let i = 0; i < data.edges.length; i += kEdge) {
  for (const [map, key] of [[calls.from, data.edges[i]], [calls.to, data.edges[i + 1]]] as const) {
    const list = map.get(key);
    if (list) list.push(i);
    else map.set(key, [i]);
  }
}

const kPseudo: Record<string, string> = { "caller-1": "nobody: it is the outermost", "callee-1": "itself", "callee-2": "paths that were not kept" };

/** Calls by function: a pair that calls from several lines has their sum before them, which counts each tick once. */
function sides(edges: number[], side: "caller" | "callee", whole: Measured): Side[] {
  const found = new Map<number, Side>();
  for (const at of edges) {
    const [caller, callee, file, line, ticks, most] = data.edges.slice(at, at + kEdge);
    const id = side === "caller" ? caller : callee;
    const entry = found.get(id) ?? {
      of: id >= 0 ? functions[id] : null,
      label: id >= 0 ? functions[id].name : kPseudo[side + id],
      places: [],
      measured: measuredOf(ticks, most, whole),
    };
    found.set(id, entry);
    if (file !== kAllLines && line) entry.places.push([`${baseName(text(file))}:${line}`, ticksOf(measuredOf(ticks, most, whole))]);
  }
  return [...found.values()].sort((a, b) => b.measured.ticks - a.measured.ticks);
}

function placesText(side: Side, verb: string): string {
  if (side.places.length === 0) return "";
  const shown = side.places.slice(0, 2).map(([place]) => place);
  const more = side.places.length - shown.length;
  return `${verb} ${shown.join(", ")}${more > 0 ? ` and ${counted(more, "more line")}` : ""}`;
}

const placesTitle = (side: Side) => (side.places.length > 1 ? side.places.map(([place, ticks]) => `${place}: ${ticks}`).join("\n") : undefined);

function Item(props: { of: Side; verb: string }) {
  const inside = () => (
    <>
      <span class="who">
        <Show when={props.of.of} fallback={<span class="pseudo">{props.of.label}</span>}>
          {(of) => (
            <>
              <Name of={of()} />
              <Show when={isInSeveralObjects(of())}>
                {" "}
                <small>
                  (<bdi>{of().object}</bdi>)
                </small>
              </Show>
            </>
          )}
        </Show>
      </span>
      <span class="value">
        <Show when={!props.of.measured.isRange} fallback={<b>{fromTo(props.of.measured.interval)}</b>}>
          <b>{percent(props.of.measured.share, 1)} %</b> <small>{range(props.of.measured.interval, 1)}</small>
        </Show>
      </span>
      <span class="where" title={placesTitle(props.of)}>
        {placesText(props.of, props.verb)}
      </span>
      <span class="value where">{ticksOf(props.of.measured)}</span>
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
          , none above {percent(rest().reduce((most, side) => Math.max(most, side.measured.share), 0), 1)} %
        </p>
      </Show>
    </div>
  );
}

const rangeText = (data.paths?.folded ?? 0) === 0 ? "inlined code, or paths of several symbols," : "folded paths";

/** Calls that are not in the page. */
function leftOut(): string {
  const { calls, ticks } = data.edges_left_out;
  if (calls === 0) return "";
  return ` ${counted(calls, "call")} of this profile ${calls === 1 ? "is" : "are"} not in this page, none with more than ${ticksText(ticks)}.`;
}

export function Callers() {
  const [all, setAll] = createSignal(false);
  const whole = () => measuredRange(...(data.on_stack[selected()?.id ?? -9] ?? [0, 0]));
  const callers = createMemo(() => sides(calls.to.get(selected()?.id ?? -9) ?? [], "caller", whole()));
  const callees = createMemo(() => sides(calls.from.get(selected()?.id ?? -9) ?? [], "callee", whole()));
  const hasRanges = () => [...callers(), ...callees()].some((side) => side.measured.isRange);
  const shown = (list: Side[]) => (all() ? list.length : Math.min(list.length, kMost));
  const height = () => Math.max(kBand + 20, kRow * Math.max(shown(callers()), shown(callees())));
  return (
    <Show when={selected() && whole().most > 0} fallback={<Note>No kept path has this function on it. Choose another in the table.</Note>}>
      <div class="callers-head" aria-hidden="true">
        <span>Called by (share of the {ticksOf(whole())} with it on the path)</span>
        <span />
        <span>Goes to</span>
      </div>
      <div class="callers" style={{ "--height": `${height()}px` }}>
        <List sides={callers()} verb="from" label="Called by" all={all()} showAll={() => setAll(true)} />
        <Ribbons sides={callers().slice(0, shown(callers()))} height={height()} mirrored={false} />
        <div class="middle">
          <Name of={selected()!} />
          <p>
            <ObjectAndPlace of={selected()!} />
          </p>
          <p>
            on the path <Figure of={whole()} />
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
        %.{hasRanges() ? ` “x to y %”: ${rangeText} may hold more of these calls, or the same ticks twice.` : ""} Choose a function to walk on to it.
        {leftOut()}
      </Note>
    </Show>
  );
}
