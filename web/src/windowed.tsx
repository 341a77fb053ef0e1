// The body of a long table: of its rows only those near the window are drawn, and room is left for the others.
import { For, Show, createEffect, createSignal, on, onCleanup, onMount, type JSX } from "solid-js";
import { counted } from "./figures";

const kWhole = 150; // up to so many rows all are drawn
const kAround = 30; // rows above and below the window
const kPrinted = 5000; // rows on paper, where nobody scrolls

/** Brings a row into sight, drawn. */
export type Reveal = (index: number) => void;

/** Arrows and the like go from row `at` to another of `rows`. `go` chooses it and says its element's id. */
export function walkRows(event: KeyboardEvent, at: number, rows: number, reveal: Reveal, go: (index: number) => string) {
  const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows - 1, PageDown: at + 20, PageUp: at - 20 }[event.key];
  if (step === undefined || rows === 0) return;
  event.preventDefault();
  const next = Math.min(rows - 1, Math.max(0, step));
  const id = go(next);
  reveal(next);
  const element = document.getElementById(id);
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "nearest" });
}

export function Windowed<T>(props: {
  rows: T[];
  columns: number;
  current: number; // the row that Tab leads to; where it is not drawn, it leads to the first that is
  children: (row: T, index: () => number, isStop: () => boolean) => JSX.Element;
  handle?: (reveal: Reveal) => void;
}) {
  let body!: HTMLTableSectionElement;
  let height = 24; // of a row; all are alike
  const [first, setFirst] = createSignal(0);
  const [last, setLast] = createSignal(kWhole);
  const [isPrinted, setPrinted] = createSignal(false);
  const whole = () => isPrinted() || props.rows.length <= kWhole;
  const from = () => (whole() ? 0 : Math.min(first(), Math.max(0, props.rows.length - kAround)));
  const to = () => Math.min(props.rows.length, isPrinted() ? kPrinted : whole() ? props.rows.length : last());
  const stop = () => (props.current >= from() && props.current < to() ? props.current : from());

  function measure() {
    const drawn = body.querySelectorAll<HTMLElement>("tr:not(.space)");
    if (drawn.length === 0) return;
    const span = drawn[drawn.length - 1].getBoundingClientRect().bottom - drawn[0].getBoundingClientRect().top;
    if (span > 0) height = span / drawn.length;
  }
  function follow() {
    if (whole()) return;
    measure();
    const top = body.getBoundingClientRect().top;
    const start = Math.max(0, Math.floor(-top / height) - kAround);
    setFirst(start);
    setLast(Math.max(start + 2 * kAround, Math.ceil((innerHeight - top) / height) + kAround));
  }
  let asked = 0;
  const soon = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      follow();
    });
  };
  const print = () => setPrinted(true);
  const printed = () => setPrinted(false);
  onMount(() => {
    addEventListener("beforeprint", print);
    addEventListener("afterprint", printed);
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    props.handle?.((index) => {
      if (index >= from() && index < to()) return;
      scrollTo({ top: scrollY + body.getBoundingClientRect().top + index * height - innerHeight / 2 });
      follow();
    });
    follow();
  });
  onCleanup(() => {
    removeEventListener("beforeprint", print);
    removeEventListener("afterprint", printed);
    removeEventListener("scroll", soon);
    removeEventListener("resize", soon);
    cancelAnimationFrame(asked);
  });
  createEffect(on(() => props.rows, soon, { defer: true }));

  const Space = (space: { rows: number }) => (
    <Show when={space.rows > 0}>
      <tr class="space" aria-hidden="true">
        <td colspan={props.columns} style={{ height: `${space.rows * height}px` }} />
      </tr>
    </Show>
  );
  return (
    <tbody ref={body}>
      <Space rows={from()} />
      <For each={props.rows.slice(from(), to())}>
        {(row, i) => props.children(row, () => from() + i(), () => from() + i() === stop())}
      </For>
      <Show when={isPrinted() && to() < props.rows.length} fallback={<Space rows={props.rows.length - to()} />}>
        <tr class="space">
          <td colspan={props.columns}>{counted(props.rows.length - to(), "more row")} on the screen</td>
        </tr>
      </Show>
    </tbody>
  );
}
