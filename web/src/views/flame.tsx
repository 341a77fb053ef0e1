// The flame graph: who called whom, as wide as its share.
import { For, Show, createEffect, createMemo, createSignal, on } from "solid-js";
import { certaintyOf, colorOf, kChanges, kCertainty, kColorings, kEstimate, kFirstColoring, legend } from "../colors";
import { counted, fromTo, percent, range } from "../figures";
import { layout, type Box } from "../flame/layout";
import { estimatesNote, largestOf, pathOf, restOf, treeFrom, type Frame } from "../flame/tree";
import { Choice, Note, offsetIn } from "../parts";
import { baseName, data, estimated, isInSeveralObjects, measured, run, ticksText } from "../profile";
import { hits, isHit } from "../search";
import { select, selected } from "../state";
import { hideTip, showTip } from "../tip";

const kHeight = 22;

const [end, setEnd] = createSignal<"entry" | "leaf">("entry");
const [growth, setGrowth] = createSignal<"down" | "up">("down");
const [joined, setJoined] = createSignal<"joined" | "full">("joined");
const [colors, setColors] = createSignal(kFirstColoring);
const [zoom, setZoom] = createSignal<Frame>(treeFrom("entry"));
const [current, setCurrent] = createSignal<Frame>(treeFrom("entry"));

function turn(next: "entry" | "leaf") {
  setEnd(next);
  setZoom(treeFrom(next));
  setCurrent(treeFrom(next));
}

function nameOf({ of }: Frame): string {
  if (!of) return "all";
  return isInSeveralObjects(of) ? `${of.name} (${of.object})` : of.name;
}

/** "push_back" of "std::vector::push_back", "+0x3f0" of "[libfoo.so+0x3f0]": what a narrow frame has room for. */
const innerName = (frame: Frame) => /^[\w~:<>,& ]*::([\w~]+)$/.exec(nameOf(frame))?.[1] ?? offsetIn(nameOf(frame)) ?? nameOf(frame);

const lastOf = (box: Box): Frame | undefined => box.frames[box.frames.length - 1];

function labelOf(box: Box): string {
  if (box.rest > 0) return "many small frames";
  if (box.many) return box.frames.length > 1 ? `${box.frames.length} more` : nameOf(box.frames[0]);
  const names = box.frames.map(box.width < 0.12 ? innerName : nameOf);
  return names.length <= 4 ? names.join(" › ") : [names[0], "…", ...names.slice(-3)].join(" › ");
}

const figureOf = (ticks: number, isEstimate: boolean) => (isEstimate ? estimated(ticks) : measured(ticks));
const shareOf = (box: Box) => figureOf(box.ticks, box.many ? box.frames.some((frame) => frame.isEstimate) : !!lastOf(box)?.isEstimate);
/** What is left for a function itself is as sure as what was inlined into it. */
const selfOf = (frame: Frame) => figureOf(frame.self, frame.isEstimate || frame.down.some((next) => next.isEstimate));

function spokenOf(box: Box): string {
  const of = shareOf(box);
  const last = box.many ? undefined : lastOf(box);
  const whole = !last || labelOf(box).includes(nameOf(last)) ? "" : ` (${nameOf(last)})`;
  const narrow = box.rest > 0 ? labelOf(box) : counted(box.frames.length, "narrow frame");
  const seen = box.many ? narrow : `${labelOf(box)} ${percent(of.share, 1)}${whole}`;
  const everywhere = last?.of?.total ?? null;
  const total = everywhere?.isRange ? `everywhere ${fromTo(everywhere.interval)}, here ` : "";
  const figure = of.isEstimate ? `about ${percent(of.share)} % of all ticks` : `${percent(of.share)} % of all ticks, ${range(of.interval)}`;
  return `${seen}: ${total}${figure}, ${ticksText(box.ticks)}`;
}

function background(box: Box): string | undefined {
  const last = lastOf(box);
  return box.many || !last?.of ? undefined : colorOf(colors(), last.of, shareOf(box));
}

const isFuzzy = (box: Box) => colors() === "certainty" && !shareOf(box).isEstimate && certaintyOf(shareOf(box)) === kCertainty.length - 1;

function go(frame: Frame) {
  setCurrent(frame);
  if (frame.of) select(frame.of);
}

function zoomTo(frame: Frame | undefined) {
  if (!frame) return;
  setZoom(frame);
  go(frame);
  hideTip();
}

function Crumbs() {
  const path = () => pathOf(zoom()).slice(0, -1);
  return (
    <Show when={path().length > 0}>
      <p class="crumbs" aria-label="Where it is zoomed to">
        <For each={path().length > 8 ? [path()[0], ...path().slice(-7)] : path()}>
          {(frame) => (
            <>
              <button type="button" class="link" onClick={() => zoomTo(frame)}>
                <bdi>{nameOf(frame)}</bdi>
              </button>
              {" › "}
            </>
          )}
        </For>
        <b>
          <bdi>{nameOf(zoom())}</bdi>
        </b>
      </p>
    </Show>
  );
}

function Legend() {
  const by = () => (colors() === "file" ? "file" : "object");
  return (
    <p class="legend">
      <Show
        when={colors() === "certainty"}
        fallback={
          <>
            <For each={colors() === "change" ? kChanges : legend(by())}>
              {([key, color]) => (
                <span>
                  <i style={{ background: color }} />
                  <bdi>{baseName(key)}</bdi>
                </span>
              )}
            </For>
            <span>
              <i class="many" />
              many narrow ones
            </span>
          </>
        }
      >
        <span>the interval is</span>
        <For each={kCertainty}>
          {(step, i) => (
            <span>
              <i style={{ background: step.color }} classList={{ fuzzy: i() === kCertainty.length - 1 }} />
              {step.label}
            </span>
          )}
        </For>
        <Show when={estimatesNote}>
          <span>
            <i style={{ background: kEstimate }} />
            not known (inlined code)
          </span>
        </Show>
      </Show>
    </p>
  );
}

function BoxView(props: { of: Box; rows: number; stop: boolean }) {
  const last = () => lastOf(props.of);
  const isCurrent = () => !props.of.many && props.of.frames.includes(current());
  const row = () => (growth() === "down" ? props.of.row : props.rows - 1 - props.of.row);
  const isWide = () => props.of.many && props.of.width >= 0.12; // narrower ones have no room for words
  const isRoot = () => !props.of.many && !last()?.of;
  const hit = () => props.of.frames.some((frame) => frame.of && isHit(frame.of));
  const tell = (event: MouseEvent) => {
    const at = last();
    const of = at?.of;
    if (props.of.many) showTip(event, null, [["together", shareOf(props.of)]], labelOf(props.of));
    else if (!at || !of) showTip(event, null, [["all", measured(run.ticks)]]);
    else
      showTip(event, of, [
        ["here", shareOf(props.of)],
        ...(at.self > 0 ? ([["self here", selfOf(at)]] as [string, ReturnType<typeof measured>][]) : []),
        ...(of.total ? ([["everywhere", of.total]] as [string, ReturnType<typeof measured>][]) : []),
      ]);
  };
  return (
    <div
      class="frame"
      classList={{ many: props.of.many, wide: isWide(), root: isRoot(), current: isCurrent(), same: !!last()?.of && last()!.of === selected(), hit: hit(),
        dim: hits() !== null && !hit() && props.of.rest === 0, fuzzy: isFuzzy(props.of) }}
      role="treeitem"
      aria-level={props.of.row + 1}
      aria-selected={isCurrent()}
      aria-label={spokenOf(props.of)}
      tabindex={props.stop ? 0 : -1}
      style={{ left: `${100 * props.of.left}%`, width: `calc(${100 * props.of.width}% - 1px)`, top: `${row() * kHeight}px`, background: background(props.of) }}
      onClick={() => zoomTo(props.of.frames[0])}
      onMouseMove={tell}
      onMouseLeave={hideTip}
    >
      <span>
        <bdi>{labelOf(props.of)}</bdi> <Show when={!props.of.many || isWide()}>{percent(measured(props.of.ticks).share, 1)}</Show>
      </span>
    </div>
  );
}

/** Frames that are not in the page, with the ticks that they and all behind them have. */
function leftOut(): string {
  const frames = (end() === "entry" ? data.from_entry : data.small_from_leaf)?.left_out ?? 0;
  if (frames === 0) return "";
  const { share } = measured(restOf(treeFrom(end())));
  return ` ${counted(frames, "frame")} with less than a ten-thousandth of all ticks each ${frames === 1 ? "is" : "are"} not in this page; together they have ${percent(share)} % (“many small frames”).`;
}

export function Flame() {
  const boxes = createMemo(() => layout(zoom(), joined() === "joined"));
  const rows = createMemo(() => boxes().reduce((most, box) => Math.max(most, box.row), 0) + 1);
  const stop = createMemo(() => boxes().find((box) => !box.many && box.frames.includes(current())) ?? boxes()[0]); // where Tab leads
  let graph!: HTMLDivElement;

  // A function chosen elsewhere is shown where most of its ticks are.
  createEffect(
    on(selected, (entry) => {
      if (!entry || current().of === entry) return;
      const frame = largestOf(entry, treeFrom(end()));
      if (!frame) return;
      if (!pathOf(frame).includes(zoom())) setZoom(treeFrom(end()));
      setCurrent(frame);
    }),
  );

  function onKey(event: KeyboardEvent) {
    const box = stop();
    const beside = (step: number) => {
      const row = boxes().filter((other) => other.row === box.row && !other.many);
      return row[row.indexOf(box) + step]?.frames[0];
    };
    const inner = () => boxes().find((other) => !other.many && other.frames[0].up === lastOf(box))?.frames[0];
    const outer = () => (box.row > 0 ? box.frames[0].up! : undefined);
    const [below, above] = growth() === "down" ? [inner, outer] : [outer, inner];
    let next: Frame | undefined;
    if (event.key === "ArrowDown") next = below();
    else if (event.key === "ArrowUp") next = above();
    else if (event.key === "ArrowLeft") next = beside(-1);
    else if (event.key === "ArrowRight") next = beside(1);
    else if (event.key === "Enter") zoomTo(box.frames[0]);
    else if (event.key === "Escape") zoomTo(zoom().up ?? zoom());
    else if (event.key === "Home") zoomTo(treeFrom(end()));
    else return;
    event.preventDefault();
    if (next) go(next);
    queueMicrotask(() => graph.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true }));
  }

  return (
    <>
      <div class="tools">
        <Choice label="From" options={[{ id: "entry", label: "entry" }, { id: "leaf", label: "leaf" }]} value={end()} set={turn} />
        <Choice label="Grows" options={[{ id: "down", label: "down" }, { id: "up", label: "up" }]} value={growth()} set={setGrowth} />
        <Choice label="Colour" options={kColorings} value={colors()} set={setColors} />
        <Choice
          label="Single chains"
          options={[{ id: "joined", label: "on one line" }, { id: "full", label: "in full" }]}
          value={joined()}
          set={setJoined}
        />
      </div>
      <Legend />
      <Crumbs />
      <div
        ref={graph}
        class="flame"
        role="tree"
        aria-label="Flame graph: arrows walk, Enter zooms in, Escape out, Home shows all"
        style={{ height: `${rows() * kHeight}px` }}
        onKeyDown={onKey}
      >
        <For each={boxes()}>{(box) => <BoxView of={box} rows={rows()} stop={stop() === box} />}</For>
      </div>
      <Note>
        {end() === "entry"
          ? "The width of a frame is its share of all ticks, with what it called;"
          : "Functions next to “all” are as wide as their own ticks, and their callers as wide as the part of these that came by way of them;"}{" "}
        frames beside each other are in the order of size, not of time.
        A frame's {end() === "entry" ? "caller" : "callee"} is {growth() === "down" ? "above" : "below"} it. A cut path stands in a frame of its own,
        in brackets.
        {leftOut()} {estimatesNote}
      </Note>
    </>
  );
}
