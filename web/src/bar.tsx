// The tabs, the search, and the line about the selected function.
import { For, Show, createEffect, createMemo, on } from "solid-js";
import { percent, seconds } from "./figures";
import { Figure, Name } from "./parts";
import { data, functions, hasPaths, placeOf, rows, run, sourceOf, ticksText } from "./profile";
import { goneHits, hits } from "./search";
import { open, search, select, selected, setSearch, setView, view, views } from "./state";

/** Ticks on paths with a hit somewhere: each counts once. */
function onPath(found: Set<number>): number {
  const nodes = data.nodes;
  const covered: boolean[] = [];
  let ticks = 0;
  for (let i = 0; i < nodes.length; i += 4) {
    const above = nodes[i] >= 0 && covered[nodes[i]];
    const hit = found.has(nodes[i + 1]);
    if (hit && !above) ticks += nodes[i + 2];
    covered.push(above || hit);
  }
  return ticks;
}

function Found() {
  const sums = createMemo(() => {
    const found = hits();
    if (!found) return null;
    let self = 0;
    for (const row of rows) if (found.has(row.id)) self += row.self.ticks;
    return { count: found.size + goneHits().size, self, path: hasPaths ? onPath(found) : 0 };
  });
  return (
    <output aria-live="polite">
      <Show when={sums()}>
        {(sum) => (
          <>
            {sum().count === 0 ? "nothing found" : `${sum().count} found: self ${percent(sum().self / Math.max(1, run.ticks), 1)} %`}
            {sum().count !== 0 && hasPaths ? `, on the path ${percent(sum().path / Math.max(1, run.ticks), 1)} %` : ""}
          </>
        )}
      </Show>
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
                <bdi>{entry().object}</bdi>
                {placeOf(entry()) ? " · " : ""}
                <bdi>{placeOf(entry())}</bdi>
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
