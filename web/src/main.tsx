import { Show } from "solid-js";
import { render } from "solid-js/web";
import { Bar, Selection } from "./bar";
import { Head } from "./head";
import { Help } from "./help";
import { data } from "./profile";
import { followSearch } from "./search";
import { followAddress, helpOpen, isDark, setHelpOpen, setTheme, setView, view, views } from "./state";
import "./style.css";
import { TipBox } from "./tip";
import { Callers } from "./views/callers";
import { Flame } from "./views/flame";
import { Compare } from "./views/compare";
import "./views/compare.css";
import { Functions } from "./views/functions";
import { Treemap } from "./views/map";
import "./views/places.css";
import { Source, nextShown } from "./views/source";
import "./views/stacks.css";

function onKey(event: KeyboardEvent) {
  if (event.ctrlKey || event.metaKey || event.altKey || helpOpen()) return;
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
  const number = Number(event.key);
  if (event.key === "/") document.getElementById("find")?.focus();
  else if (event.key === "?") setHelpOpen(true);
  else if (event.key === "i" && view() === "source") nextShown();
  else if (event.key === "t") setTheme(isDark() ? "light" : "dark");
  else if (number >= 1 && number <= views.length) setView(views[number - 1].id);
  else return;
  event.preventDefault();
}

function Page() {
  followSearch();
  followAddress();
  addEventListener("keydown", onKey);
  document.title = `${data.title} – pctally`;
  return (
    <>
      <Head />
      <Bar />
      <Selection />
      <main class="wrap">
        <div id="panel" role="tabpanel" tabindex="-1" aria-labelledby={`tab-${view()}`}>
        <Show when={view() === "functions"}>
          <Functions />
        </Show>
        <Show when={view() === "flame"}>
          <Flame />
        </Show>
        <Show when={view() === "callers"}>
          <Callers />
        </Show>
        <Show when={view() === "source"}>
          <Source />
        </Show>
        <Show when={view() === "map"}>
          <Treemap />
        </Show>
        <Show when={view() === "compare" && data.diff}>{(diff) => <Compare of={diff()} />}</Show>
        </div>
      </main>
      <Help />
      <TipBox />
    </>
  );
}

render(() => <Page />, document.getElementById("page")!);
