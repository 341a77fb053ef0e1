// The body of a long table: of its rows only those near the window are drawn, and room is left for the others.
import { For, Show, createEffect, createSignal, on, onCleanup, onMount, type JSX } from "solid-js";

const kWhole = 150; // up to so many rows all are drawn
const kAround = 30; // rows above and below the window

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
  children: (row: T, index: () => number) => JSX.Element;
  handle?: (reveal: Reveal) => void;
}) {
  let body!: HTMLTableSectionElement;
  let height = 24; // of a row; all are alike
  const [first, setFirst] = createSignal(0);
  const [last, setLast] = createSignal(kWhole);
  const whole = () => props.rows.length <= kWhole;
  const from = () => (whole() ? 0 : Math.min(first(), Math.max(0, props.rows.length - kAround)));
  const to = () => (whole() ? props.rows.length : Math.min(last(), props.rows.length));

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
  onMount(() => {
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
      <For each={props.rows.slice(from(), to())}>{(row, i) => props.children(row, () => from() + i())}</For>
      <Space rows={props.rows.length - to()} />
    </tbody>
  );
}
