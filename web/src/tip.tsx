// What the pointer is over, with its figures.
import { For, Show, createSignal } from "solid-js";
import { fromTo, percent, range } from "./figures";
import { ObjectAndPlace, Share } from "./parts";
import { type Function, type Measured, ticksOf } from "./profile";

interface Tip {
  of: Function | null;
  title?: string;
  rows: [string, Measured][];
  x: number;
  y: number;
}

const [tip, setTip] = createSignal<Tip | null>(null);
export const hideTip = () => setTip(null);

export function showTip(event: MouseEvent, of: Function | null, rows: [string, Measured][], title?: string) {
  setTip({ of, rows, title, x: Math.min(event.clientX + 14, innerWidth - 400), y: Math.min(event.clientY + 16, innerHeight - 130) });
}

export function TipBox() {
  return (
    <Show when={tip()}>
      {(now) => (
        <div class="tip" role="tooltip" style={{ left: `${Math.max(4, now().x)}px`, top: `${Math.max(4, now().y)}px` }}>
          <bdi class="name">{now().title ?? now().of?.name ?? "all"}</bdi>
          <Show when={now().of}>
            {(of) => (
              <p>
                <ObjectAndPlace of={of()} />
              </p>
            )}
          </Show>
          <table>
            <tbody>
              <For each={now().rows}>
                {([label, of]) => (
                  <tr>
                    <td>{label}</td>
                    <Show
                      when={!of.isRange}
                      fallback={
                        <td class="number" colspan="2">
                          {fromTo(of.interval)}
                        </td>
                      }
                    >
                      <td class="number">
                        {of.isEstimate ? "about " : ""}
                        {percent(of.share)} %
                      </td>
                      <td>{of.isEstimate ? "" : range(of.interval)}</td>
                    </Show>
                    <td class="tip-bar">
                      <Share of={of} most={Math.max(...now().rows.map((row) => row[1].interval.high))} />
                    </td>
                    <td>{ticksOf(of)}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      )}
    </Show>
  );
}
