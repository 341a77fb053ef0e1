// The answer first, in words; then what was seen and what was not.
import { For, Show } from "solid-js";
import type { Paths } from "./data";
import { counted, grouped, percent, seconds } from "./figures";
import { data, rows, run, ticksFigure, ticksText } from "./profile";
import { isDark, setHelpOpen, setTheme } from "./state";

const Mark = () => (
  <svg width="22" height="14" viewBox="0 0 22 14" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round">
    <path d="M4 1v12M8.6 1v12M13.2 1v12M17.8 1v12M1 11 21 3" />
  </svg>
);

const cpuTime = run.sampled_part === null ? "the CPU time" : `the ${percent(run.sampled_part, 0)} % of the CPU time that was sampled`;
const whole = run.event === null ? cpuTime : `all ${run.event}`;
const of = run.event === null ? "CPU time" : run.event;
const kind = data.diff ? `Comparison of profiles of ${of}` : `Profile of ${of}`;

/** With how many of these functions, the largest first, half of all ticks are reached; 0: all together have less. */
function halfOf(functions: typeof rows): number {
  let ticks = 0;
  return functions.findIndex((row) => (ticks += row.self.ticks) * 2 >= run.ticks) + 1;
}

function Answer() {
  if (data.diff)
    return (
      <p class="answer">
        <b>{data.diff.verdict}</b> {data.diff.cause}
      </p>
    );
  // "[process start]" and "[paths left out]" are no functions; "[head+0x6860]" is one without a name.
  const hit = rows.filter((row) => row.self.ticks > 0);
  const functions = hit.filter((row) => !/^\[[^+]*\]$/.test(row.name));
  const ticked = functions.length > 0 ? functions : hit;
  const first = ticked[0];
  if (!first) return <p class="answer">No tick was recorded: there is nothing to show.</p>;
  const interval = first.self.interval;
  const half = halfOf(ticked);
  const sure = ticked.findIndex((row) => row.places!.first !== row.places!.last);
  const beyond = sure < 0 ? ticked.length : sure;
  return (
    <p class="answer">
      <b>
        <bdi>{first.name}</bdi>
      </b>{" "}
      takes {percent(first.self.share, 1)}&nbsp;% of {whole} ({percent(interval.low, 1)} to {percent(interval.high, 1)}).{" "}
      <Show when={ticked.length > 1}>
        {half > 0 ? `Half of it is in ${half} of ${counted(ticked.length, "function")}; ` : ""}
        {beyond === 0
          ? "no place of the ranking is beyond chance."
          : beyond === ticked.length
            ? "every place of the ranking is beyond chance."
            : beyond === 1
              ? "only the first place is beyond chance."
              : `only the first ${beyond} places are beyond chance.`}
      </Show>
    </p>
  );
}

/** Sampled, lost and unsampled time beside the CPU time that the kernel measured. */
function Seen() {
  const sampled = run.sampled_s ?? 0;
  const lost = run.lost_s ?? 0;
  const unsampled = Math.max(0, run.unsampled_s ?? 0);
  const most = Math.max(run.cpu_s ?? 0, sampled + lost + run.chance_s, 1e-9) * 1.01;
  const at = (value: number) => `${Math.max(0, Math.min(100, (100 * value) / most))}%`;
  return (
    <div class="seen">
      <dt>What was seen of the CPU time</dt>
      <dd>
        <span class="strip" aria-hidden="true">
          <i class="sampled" style={{ width: at(sampled) }} />
          <i class="lost" style={{ left: at(sampled), width: at(lost) }} />
          <i class="unsampled" style={{ left: at(sampled + lost), width: at(unsampled) }} />
          <Show when={run.chance_s > 0}>
            <u style={{ left: at(sampled - run.chance_s), width: at(2 * run.chance_s) }} />
          </Show>
          <Show when={run.cpu_s !== null}>
            <b style={{ left: at(run.cpu_s!) }} />
          </Show>
        </span>
        <span class="key">
          <span>
            <i class="sampled" />
            sampled {seconds(sampled)}
            {run.chance_s > 0 ? ` ± ${seconds(run.chance_s)}` : ""}
          </span>
          <span>
            <i class="lost" />
            lost {seconds(lost)}
          </span>
          <Show when={run.unsampled_s !== null}>
            <span>
              <i class="unsampled" />
              unsampled {seconds(run.unsampled_s!)}
            </span>
          </Show>
        </span>
      </dd>
    </div>
  );
}

/** The other parts; behind a semicolon what is no part, but may be of any. */
function pathsText(paths: Paths): string {
  const cut = paths.cut.reduce((sum, part) => sum + part.ticks, 0);
  let text = `, ${ticksFigure(cut)} cut`;
  if (paths.no_room !== 0) text += `, ${ticksFigure(paths.no_room)} without room`;
  if (paths.folded !== 0) text += `; ${ticksFigure(paths.folded)} folded into their callers`;
  if (paths.no_total !== 0) text += `; ${ticksFigure(paths.no_total)} of calls without room: their totals are ranges (record --paths-memory)`;
  return text;
}

function Facts() {
  return (
    <dl class="facts">
      <Show when={run.cpu_s !== null}>
        <div>
          <dt>CPU time</dt>
          <dd>
            <b>{seconds(run.cpu_s!)}</b> in {seconds(run.wall_s)}
          </dd>
        </div>
      </Show>
      <div>
        <dt>{run.recorded_unit === "sample" ? "Samples" : "Ticks"}</dt>
        <dd>
          <b>{grouped(run.recorded)}</b>{" "}
          {run.unit !== "tick"
            ? run.runs > 1
              ? `in ${run.runs} runs`
              : "of different times"
            : run.event === null
              ? `one per ${(run.period / 1e6).toFixed(3)} ms`
              : run.period === 1
                ? run.event
                : `one per ${grouped(run.period)} ${run.event}`}
        </dd>
      </div>
      <div>
        <dt>Engine</dt>
        <dd>
          <b>{run.engine}</b>
          {run.event === null && run.rate_hz > 0 ? ` ${Math.round(run.rate_hz)} Hz` : ""}
        </dd>
      </div>
      <Show when={data.paths}>
        {(paths) => (
          <div>
            <dt>Call paths</dt>
            <dd title={paths().cut.map((part) => `${ticksText(part.ticks)} ${part.reason}`).join("; ") || undefined}>
              <b>{ticksFigure(paths().complete)}</b> complete{pathsText(paths())}
            </dd>
          </div>
        )}
      </Show>
      <Show when={run.sampled_s !== null}>
        <Seen />
      </Show>
    </dl>
  );
}

const commandsShown = 3; // the others after a click

function CommandLines(props: { lines: string[] }) {
  return (
    <For each={props.lines}>
      {(line) => (
        <p class="command">
          <bdi>{line}</bdi>
        </p>
      )}
    </For>
  );
}

function Commands() {
  const more = data.commands.slice(commandsShown);
  return (
    <>
      <CommandLines lines={data.commands.slice(0, commandsShown)} />
      <Show when={more.length > 0}>
        <details class="command">
          <summary>{more.length} more</summary>
          <CommandLines lines={more} />
        </details>
      </Show>
    </>
  );
}

export function Head() {
  return (
    <header class="wrap">
      <div class="top">
        <Mark />
        <b>pctally</b>
        <span class="what">{kind} on one self-contained page</span>
        <button type="button" class="tool" aria-label="Change between light and dark" onClick={() => setTheme(isDark() ? "light" : "dark")}>
          {isDark() ? "Light" : "Dark"}
        </button>
        <button type="button" class="tool" aria-label="Keys, and how to read this page" onClick={() => setHelpOpen(true)}>
          ?
        </button>
      </div>
      <h1>
        <bdi>{data.title || "(no name)"}</bdi>
      </h1>
      <Commands />
      <Answer />
      <Show when={data.warnings.length > 0}>
        <ul class="warnings" aria-label="What to know before trusting this">
          <For each={data.warnings}>
            {(warning) => (
              <li class={`is-${warning.severity}`}>
                <b>{warning.severity}</b> {warning.text}
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Facts />
    </header>
  );
}
