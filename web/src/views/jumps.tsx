// Jumps between the rows of a listing, drawn in lanes beside the instructions: short ones inside long ones.
import { For, Show } from "solid-js";

export interface Jump {
  from: number; // rows
  to: number;
  loop: boolean; // back to an earlier instruction, which may stand in a later row
}
interface Piece {
  lane: number; // 0: nearest to the code
  end: "top" | "bottom" | null; // of the jump in this row; null: it passes by
  arrow: boolean;
  loop: boolean;
}
export interface Lanes {
  count: number;
  pieces: Map<number, Piece[]>; // by row
}

const kMost = 6; // what finds no lane is not drawn
const kStep = 6; // pixels
const kLead = 9; // from the nearest lane to the code

export const lanesWidth = (lanes: Lanes) => (lanes.count === 0 ? 0 : kLead + kStep * lanes.count);

export function lanesOf(jumps: Jump[]): Lanes {
  const spans = jumps.filter((jump) => jump.from !== jump.to).map((jump) => ({ ...jump, top: Math.min(jump.from, jump.to), bottom: Math.max(jump.from, jump.to) }));
  spans.sort((a, b) => a.bottom - a.top - (b.bottom - b.top) || a.top - b.top);
  const taken: (typeof spans)[] = [];
  const lanes: Lanes = { count: 0, pieces: new Map() };
  for (const span of spans) {
    let lane = 0;
    while (taken[lane]?.some((other) => other.top <= span.bottom && span.top <= other.bottom)) ++lane;
    if (lane >= kMost) continue;
    (taken[lane] ??= []).push(span);
    lanes.count = Math.max(lanes.count, lane + 1);
    for (let row = span.top; row <= span.bottom; ++row) {
      const piece: Piece = {
        lane,
        end: row === span.top ? "top" : row === span.bottom ? "bottom" : null,
        arrow: row === span.to,
        loop: span.loop,
      };
      lanes.pieces.set(row, [...(lanes.pieces.get(row) ?? []), piece]);
    }
  }
  return lanes;
}

/** One row's part of the drawing. Readers of the screen have the address that a jump leads to. */
export function LanesOfRow(props: { lanes: Lanes; row: number; height: number }) {
  const width = () => lanesWidth(props.lanes);
  const middle = () => Math.floor(props.height / 2) + 0.5;
  const path = (piece: Piece) => {
    const x = width() - kLead - kStep * piece.lane - 0.5;
    if (piece.end === null) return `M${x} 0V${props.height}`;
    return `M${x} ${piece.end === "top" ? props.height : 0}V${middle()}H${width() - (piece.arrow ? 3 : 1)}`;
  };
  return (
    <Show when={props.lanes.count > 0}>
      <svg class="lanes" width={width()} height={props.height} viewBox={`0 0 ${width()} ${props.height}`} aria-hidden="true">
        <For each={props.lanes.pieces.get(props.row)}>
          {(piece) => (
            <>
              <path class={piece.loop ? "loop" : undefined} d={path(piece)} />
              <Show when={piece.arrow}>
                <path class={piece.loop ? "head loop" : "head"} d={`M${width() - 5} ${middle() - 3}l5 3l-5 3z`} />
              </Show>
            </>
          )}
        </For>
      </svg>
    </Show>
  );
}
