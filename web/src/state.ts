// What the reader has chosen: one selection for all views. View, function and search are in the address, so that a link shows them.
import { createEffect, createSignal, on } from "solid-js";
import { data, functions, hasPaths, rows, sourceOf, type Function } from "./profile";

export type View = "functions" | "flame" | "callers" | "source" | "map" | "compare";

export const views: { id: View; label: string }[] = [
  { id: "functions", label: "Functions" },
  ...(hasPaths ? ([{ id: "flame", label: "Flame graph" }, { id: "callers", label: "Callers" }] as const) : []),
  ...(sourceOf.size > 0 ? ([{ id: "source", label: "Source" }] as const) : []),
  ...(rows.some((row) => row.self.ticks > 0) ? ([{ id: "map", label: "Map" }] as const) : []),
  ...(data.diff ? ([{ id: "compare", label: "Compare" }] as const) : []),
];

const isView = (word: string): word is View => views.some((view) => view.id === word);

const [view, setView] = createSignal<View>(isView(data.view) ? data.view : "functions");
const [selected, setSelected] = createSignal<Function | null>(rows[0] ?? null);
const [search, setSearch] = createSignal("");
export const [theme, setTheme] = createSignal<"light" | "dark" | "">("");
export const [helpOpen, setHelpOpen] = createSignal(false);
export const [allRows, setAllRows] = createSignal(false); // of the tables
export { search, selected, setSearch, setView, view };

export const select = (entry: Function | null) => {
  if (entry) setSelected(entry);
};

/** The view, with the focus in it. */
export function open(next: View, entry?: Function) {
  if (entry) setSelected(entry);
  if (next === "source" && !sourceOf.has(selected()?.id ?? -1)) return;
  setView(next);
  queueMicrotask(() => document.getElementById("panel")?.focus({ preventScroll: true }));
}

const systemDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
export const isDark = () => (theme() === "" ? systemDark() : theme() === "dark");

/** What of a name is in the address: half of a pair of surrogates could not be. */
const inAddress = (name: string) => name.slice(0, 200).replace(/[\ud800-\udbff]$/, "");

function findNamed(name: string, object: string): Function | undefined {
  const named = functions.filter((entry) => inAddress(entry.name) === name);
  return named.find((entry) => inAddress(entry.object) === object) ?? named[0];
}

function readAddress() {
  let given: URLSearchParams;
  try {
    given = new URLSearchParams(location.hash.slice(1));
  } catch {
    return;
  }
  const wanted = given.get("view");
  if (wanted && isView(wanted)) setView(wanted);
  const entry = findNamed(given.get("f") ?? "", given.get("o") ?? "");
  if (entry) setSelected(entry);
  setSearch((given.get("q") ?? "").slice(0, 200));
  setAllRows(given.get("rows") === "all");
  const asked = given.get("theme");
  if (asked === "light" || asked === "dark") setTheme(asked);
}

export function followAddress() {
  readAddress();
  addEventListener("hashchange", readAddress);
  createEffect(
    on([view, selected, search, allRows, theme], ([now, entry, words, all, tone]) => {
      const next = new URLSearchParams({ view: now });
      if (entry) next.set("f", inAddress(entry.name));
      if (entry) next.set("o", inAddress(entry.object));
      if (words) next.set("q", words);
      if (all) next.set("rows", "all");
      if (tone) next.set("theme", tone);
      try {
        history.replaceState(null, "", `#${next}`);
      } catch {
        // a page in a frame without rights of its own has no address to write
      }
    }, { defer: true }),
  );
  createEffect(() => {
    if (theme()) document.documentElement.dataset.theme = theme();
  });
}
