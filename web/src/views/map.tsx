// The treemap: object, then file, then function; area is self time.
import { For, Show, createSignal } from "solid-js";
import { certaintyOf, colorOf, kCertainty, kColorings, kFirstColoring } from "../colors";
import { percent, range } from "../figures";
import { squarify, type Rect } from "../map/squarify";
import { Choice, NameText, Note } from "../parts";
import { measured, rows, run, type Function, ticksText } from "../profile";
import { hits, isHit } from "../search";
import { open, select, selected } from "../state";
import { hideTip, showTip } from "../tip";

// The width is a measure for shapes alone: tiles are drawn in parts of it. The height is in pixels.
const size = innerWidth < 720 ? { width: 362, height: 900 } : { width: 1224, height: 600 };
const kSmallest = 90; // area of a tile; smaller ones are put together

interface Tile {
  of: Function | null; // null: many small ones
  list: Function[]; // all in it
  label: string;
  ticks: number;
  rect: Rect;
}
interface Group {
  label: string;
  ticks: number;
  rect: Rect;
  object: boolean;
}

const inside = (rect: Rect, top: number): Rect => ({ x: rect.x, y: rect.y + top, width: rect.width, height: Math.max(0, rect.height - top) });

function groupBy(list: Function[], key: (entry: Function) => string): { key: string; ticks: number; list: Function[] }[] {
  const groups = new Map<string, { key: string; ticks: number; list: Function[] }>();
  for (const entry of list) {
    const group = groups.get(key(entry)) ?? { key: key(entry), ticks: 0, list: [] };
    groups.set(key(entry), group);
    group.ticks += entry.self.ticks;
    group.list.push(entry);
  }
  return [...groups.values()].sort((a, b) => b.ticks - a.ticks);
}

/** The tiles of one file; those too small to see together. */
function tilesOf(list: Function[], rect: Rect): Tile[] {
  const area = (rect.width * rect.height) / list.reduce((sum, entry) => sum + entry.self.ticks, 0);
  const large = list.filter((entry) => entry.self.ticks * area >= kSmallest);
  const small = list.slice(large.length);
  const items = large.map((of) => ({ of: of as Function | null, list: [of], label: of.name, ticks: of.self.ticks }));
  if (small.length > 0)
    items.push({
      of: small.length === 1 ? small[0] : null,
      list: small,
      label: small.length === 1 ? small[0].name : `${small.length} more`,
      ticks: small.reduce((sum, entry) => sum + entry.self.ticks, 0),
    });
  items.sort((a, b) => b.ticks - a.ticks);
  const rects = squarify(items.map((item) => item.ticks), rect);
  return items.map((item, i) => ({ ...item, rect: rects[i] }));
}

function layout(): { tiles: Tile[]; groups: Group[] } {
  const tiles: Tile[] = [];
  const groups: Group[] = [];
  const ticked = rows.filter((row) => row.self.ticks > 0);
  const objects = groupBy(ticked, (entry) => entry.object);
  const places = squarify(objects.map((object) => object.ticks), { x: 0, y: 0, width: size.width, height: size.height });
  objects.forEach((object, i) => {
    const rect = places[i];
    const label = object.key || "not in any object";
    if (rect.width < 24 || rect.height < 24) {
      const only = object.list.length === 1 ? object.list[0] : null;
      tiles.push({ of: only, list: object.list, label: only?.name ?? `${object.list.length} in ${label}`, ticks: object.ticks, rect });
      return;
    }
    groups.push({ label, ticks: object.ticks, rect, object: true });
    const files = groupBy(object.list, (entry) => entry.path);
    const room = inside({ ...rect, width: Math.max(0, rect.width - 4) }, rect.height > 40 ? 20 : 3);
    squarify(files.map((file) => file.ticks), room).forEach((part, k) => {
      const file = files[k];
      const named = files.length > 1 && part.height > 34 && part.width > 36;
      if (named) groups.push({ label: file.list[0].file || "file not known", ticks: file.ticks, rect: part, object: false });
      tiles.push(...tilesOf(file.list, inside({ ...part, width: Math.max(0, part.width - 2) }, named ? 16 : 0)));
    });
  });
  return { tiles, groups };
}

let drawn: { tiles: Tile[]; groups: Group[] } | undefined;
const [colors, setColors] = createSignal(kFirstColoring);

const across = (value: number) => `${(100 * value) / size.width}%`;

const background = (tile: Tile) => (tile.of ? colorOf(colors(), tile.of, tile.of.self) : undefined);

const spoken = (tile: Tile) => {
  const of = measured(tile.ticks);
  return `${tile.label} ${percent(of.share, 1)} ${range(of.interval, 1)}: % of all ticks${tile.of ? ` in ${tile.of.object}` : ""}, ${ticksText(tile.ticks)}`;
};

function TileView(props: { of: Tile; stop: boolean }) {
  const { rect } = props.of;
  const of = measured(props.of.ticks);
  const isChosen = () => props.of.of !== null && props.of.of === selected();
  const hit = () => props.of.list.some(isHit);
  return (
    <div
      class="tile"
      role="option"
      aria-selected={isChosen()}
      aria-label={spoken(props.of)}
      tabindex={props.stop ? 0 : -1}
      classList={{
        current: isChosen(),
        many: !props.of.of,
        hit: hit(),
        dim: hits() !== null && !hit(),
        fuzzy: certaintyOf(of) === kCertainty.length - 1,
      }}
      style={{
        left: across(rect.x),
        top: `${rect.y}px`,
        width: `calc(${across(rect.width)} - 1px)`,
        height: `${Math.max(1, rect.height - 1)}px`,
        background: background(props.of),
      }}
      onClick={() => select(props.of.of)}
      onDblClick={() => props.of.of && open("source", props.of.of)}
      onMouseMove={(event) => showTip(event, props.of.of, [["self", of]], props.of.of ? undefined : props.of.label)}
      onMouseLeave={hideTip}
    >
      <Show when={rect.height > 18 && rect.width > 26}>
        <NameText name={props.of.label} />
      </Show>{" "}
      <Show when={rect.height > 36 && rect.width > 50}>
        <small>
          {percent(of.share, 1)} {range(of.interval, 1)}
        </small>
      </Show>
    </div>
  );
}

/** The nearest tile in a direction: what lies ahead, and rather straight ahead. */
function beside(from: Tile, tiles: Tile[], dx: number, dy: number): Tile | undefined {
  const middle = (tile: Tile) => ({ x: tile.rect.x + tile.rect.width / 2, y: tile.rect.y + tile.rect.height / 2 });
  const start = middle(from);
  let best: Tile | undefined;
  let least = Infinity;
  for (const tile of tiles) {
    const { x, y } = middle(tile);
    const ahead = (x - start.x) * dx + (y - start.y) * dy;
    const aside = Math.abs((x - start.x) * dy) + Math.abs((y - start.y) * dx);
    if (!tile.of || ahead <= 1 || ahead + 2 * aside >= least) continue;
    least = ahead + 2 * aside;
    best = tile;
  }
  return best;
}

export function Treemap() {
  drawn ??= layout();
  const { tiles, groups } = drawn;
  const stop = () => tiles.find((tile) => tile.of !== null && tile.of === selected()) ?? tiles[0]; // where Tab leads
  let map!: HTMLDivElement;
  function onKey(event: KeyboardEvent) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter" && selected()) open("source");
    if (!step) return;
    event.preventDefault();
    const from = stop();
    const next = from && beside(from, tiles, step[0], step[1]);
    if (next) select(next.of);
    queueMicrotask(() => map.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true }));
  }
  return (
    <>
      <div class="tools">
        <Choice label="Colour" options={kColorings} value={colors()} set={setColors} />
      </div>
      <div ref={map} class="map" role="listbox" aria-label="Functions by object and file; arrows move" style={{ height: `${size.height}px` }} onKeyDown={onKey}>
        <For each={groups}>
          {(group) => (
            <div
              class="group"
              classList={{ object: group.object }}
              role="presentation"
              style={{ left: across(group.rect.x), top: `${group.rect.y}px`, width: `calc(${across(group.rect.width)} - 4px)` }}
            >
              <Show when={!group.object || (group.rect.height > 40 && group.rect.width > 30)}>
                <bdi>{group.label}</bdi> {percent(group.ticks / Math.max(1, run.ticks), 1)} %
              </Show>
            </div>
          )}
        </For>
        <For each={tiles}>{(tile) => <TileView of={tile} stop={stop() === tile} />}</For>
      </div>
      <Note>
        Area is self time: dark rules separate objects; inside are source files, inside these functions. Tiles too small to see stand together.
        Hatched: the interval is wider than half of the share, to one side or the other.
      </Note>
    </>
  );
}
