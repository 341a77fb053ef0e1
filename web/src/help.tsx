// Keys, and how to read the page.
import { For, createEffect } from "solid-js";
import { data } from "./profile";
import { helpOpen, setHelpOpen, views } from "./state";

const kKeys: [string, string][] = [
  ["/", "find; Enter takes the first, Esc clears"],
  [`1 – ${views.length}`, "the views"],
  ["← → ↑ ↓", "move in a view"],
  ["Enter", "source or callers of a row, source of a tile; zooms in on a frame"],
  ["Esc", "zooms out again"],
  ["i", "instructions in the source"],
  ["t", "light or dark"],
  ["?", "this page"],
];

export function Help() {
  let dialog!: HTMLDialogElement;
  createEffect(() => {
    if (helpOpen()) dialog.showModal();
    else dialog.close();
  });
  return (
    <dialog ref={dialog} aria-label="Keys, and how to read this page" onClose={() => setHelpOpen(false)}>
      <h2>Keys</h2>
      <dl class="keys">
        <For each={kKeys}>
          {([key, what]) => (
            <>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </>
          )}
        </For>
      </dl>
      <h2>How to read it</h2>
      <p>
        A profile is a sample. Each share is drawn with its 95 % confidence interval; where two intervals overlap, the order of the
        two may be chance. Self time is that of a function's own code; total time includes what it called.
      </p>
      <p>This page fetches nothing and sends nothing. Written by {data.made_by}.</p>
      <form method="dialog">
        <button class="tool">Close</button>
      </form>
    </dialog>
  );
}
