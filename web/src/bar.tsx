// The tabs, the search, and the line about the selected function.
import { For, Show, createEffect, createMemo, on } from "solid-js";
import { fromTo, percent, seconds } from "./figures";
import { Figure, Name, ObjectAndPlace } from "./parts";
import { data, functions, hasPaths, rows, run, sourceOf, ticksText, type Function } from "./profile";
import { goneHits, hits } from "./search";
import { open, search, select, selected, setSearch, setView, view, views } from "./state";

/** Ticks on paths with a hit somewhere: each counts once. `open`: ticks that may be among them, on frames too small to be in the page. */
function onPath(found: Set<number>): { ticks: number; open: number } {
  const nodes = data.from_entry!.nodes;
  const covered: boolean[] = [];
  let ticks = 0;
  let open = run.ticks;
  for (let i = 0; i < nodes.length; i += 4) {
    const above = nodes[i] >= 0 && covered[nodes[i]];
    const hit = found.has(nodes[i + 1]);
    if (hit && !above) ticks += nodes[i + 2];
    if (hit && !above) open -= nodes[i + 2];
    else if (!above) open -= nodes[i + 3];
    covered.push(above || hit);
  }
  return { ticks, open };
}

const share = (ticks: number) => `${percent(ticks / Math.max(1, run.ticks), 1)} %`;

/** "40.0 %", from the total of a function found alone. Of several the tree says it, but for frames too small to be in the page. */
function onPathText(found: Set<number>, self: number): string {
  const list = functions.filter((entry) => found.has(entry.id));
  const total = list.length === 1 ? list[0].total : null;
  if (total) return total.isRange ? fromTo(total.interval) : share(total.ticks);
  const { ticks, open } = onPath(found);
  const least = list.reduce((most, entry) => Math.max(most, entry.total?.ticks ?? 0), Math.max(self, ticks));
  return `${open >= 0.0005 * run.ticks ? "at least " : ""}${share(least)}`;
}

/** Inlined everywhere: what stands for a path has no object. */
const isInlinedOnly = (entry: Function) => entry.inlined && (entry.object !== "" || !entry.name.startsWith("["));

/** In the table ticks in inlined code are those of the function around it: there is no share of its own to show. */
function inlinedText(found: Set<number>): string {
  if (found.size === 0 || !functions.every((entry) => !found.has(entry.id) || isInlinedOnly(entry))) return "";
  return found.size === 1
    ? "1 found, inlined only: in the table its ticks count for the function around it (see Flame graph)"
    : `${found.size} found, inlined only: in the table their ticks count for the functions around them (see Flame graph)`;
}

function Found() {
  const said = createMemo(() => {
    const found = hits();
    if (!found) return null;
    const inlined = goneHits().size === 0 ? inlinedText(found) : "";
    if (inlined) return inlined;
    let self = 0;
    for (const row of rows) if (found.has(row.id)) self += row.self.ticks;
    const count = found.size + goneHits().size;
    if (count === 0) return "nothing found";
    return `${count} found: self ${share(self)}${hasPaths && found.size > 0 ? `, on the path ${onPathText(found, self)}` : ""}`;
  });
  return (
    <output aria-live="polite">
      {said()}
    </output>
  );
}

/** The row, frame or tile where Tab would lead: arrows walk on from there. */
function focusStop() {
  const panel = document.getElementById("panel");
  const stop = panel?.querySelector<HTMLElement>("[tabindex='0']") ?? panel;
  stop?.focus({ preventScroll: true });
  if (stop !== panel) stop?.scrollIntoView({ block: "nearest" });
}

function searchKey(event: KeyboardEvent) {
  if (event.key === "Enter") {
    const found = hits();
    const first = functions.find((entry) => found?.has(entry.id));
    if (first) select(first);
    queueMicrotask(focusStop);
  } else if (event.key === "Escape") {
    event.stopPropagation();
    setSearch("");
    document.getElementById("panel")?.focus({ preventScroll: true });
  }
}

/** Arrows walk along the tabs, as tab lists do. */
function tabKey(event: KeyboardEvent) {
  const at = views.findIndex((entry) => entry.id === view());
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const next = views[(at + step + views.length) % views.length];
  setView(next.id);
  document.getElementById(`tab-${next.id}`)?.focus();
}

/** On a narrow screen the tabs scroll: the chosen one is in sight. */
function showTab() {
  const tab = document.getElementById(`tab-${view()}`);
  const list = tab?.parentElement;
  if (tab && list) list.scrollLeft = tab.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2;
}

export function Bar() {
  createEffect(on(view, () => queueMicrotask(showTab)));
  addEventListener("resize", showTab);
  return (
    <nav class="bar" aria-label="Views and search">
      <div class="wrap">
        <div class="tabs" role="tablist" aria-label="Views" onKeyDown={tabKey}>
          <For each={views}>
            {(entry) => (
              <button
                type="button"
                role="tab"
                id={`tab-${entry.id}`}
                aria-controls="panel"
                aria-selected={view() === entry.id}
                tabindex={view() === entry.id ? 0 : -1}
                onClick={() => setView(entry.id)}
              >
                {entry.label}
              </button>
            )}
          </For>
        </div>
        <div class="find">
          <Found />
          <input
            id="find"
            type="search"
            placeholder="Find a function ( / )"
            aria-label="Find functions by words of their name, file or object"
            autocomplete="off"
            spellcheck={false}
            maxLength={200}
            value={search()}
            onInput={(event) => setSearch(event.currentTarget.value)}
            onKeyDown={searchKey}
          />
        </div>
      </div>
    </nav>
  );
}

export function Selection() {
  return (
    <div class="wrap">
      <div class="selection" aria-live="polite">
        <Show when={selected()} fallback="No function">
          {(entry) => (
            <>
              <Name of={entry()} class="chosen" />
              <span>
                <ObjectAndPlace of={entry()} />
              </span>
              <Show when={!entry().inlined} fallback={<span>has no row of its own: it was inlined, or stands for a path</span>}>
                <span>
                  self <Figure of={entry().self} />
                </span>
                <Show when={entry().total}>
                  {(total) => (
                    <span>
                      total <Figure of={total()} />
                    </span>
                  )}
                </Show>
                <span>
                  {run.event === null ? seconds((entry().self.ticks * run.period) / 1e9) : ticksText(entry().self.ticks)} self
                </span>
              </Show>
              <Show when={hasPaths && view() !== "flame"}>
                <button type="button" class="link" onClick={() => open("flame")}>
                  Flame graph
                </button>
              </Show>
              <Show when={hasPaths && view() !== "callers"}>
                <button type="button" class="link" onClick={() => open("callers")}>
                  Callers
                </button>
              </Show>
              <Show when={sourceOf.has(entry().id) && view() !== "source"}>
                <button type="button" class="link" onClick={() => open("source")}>
                  Source
                </button>
              </Show>
            </>
          )}
        </Show>
      </div>
    </div>
  );
}
