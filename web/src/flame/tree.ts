// The call tree, from the outermost functions down or from what ran up to its callers.
import { data, functions, run, type Function } from "../profile";

export interface Frame {
  of: Function | null; // null: all
  ticks: number;
  self: number;
  up: Frame | null;
  down: Frame[]; // most ticks first
  depth: number;
}

function frame(of: Function | null, up: Frame | null): Frame {
  return { of, ticks: 0, self: 0, up, down: [], depth: up ? up.depth + 1 : 0 };
}

function fromEntry(): Frame {
  const root = frame(null, null);
  root.ticks = run.ticks;
  const list: Frame[] = [];
  const { nodes } = data;
  for (let i = 0; i < nodes.length; i += 4) {
    const up = nodes[i] < 0 ? root : list[nodes[i]];
    const next = frame(functions[nodes[i + 1]], up);
    next.ticks = nodes[i + 2];
    next.self = nodes[i + 3];
    up.down.push(next);
    list.push(next);
  }
  return root;
}

/** What ran, and below it who called it: made of the same nodes. */
function fromLeaf(entry: Frame): Frame {
  const root = frame(null, null);
  root.ticks = run.ticks;
  const known = new Map<Frame, Map<Function, Frame>>([[root, new Map()]]);
  const pending = [...entry.down];
  const all: Frame[] = [];
  for (let leaf = pending.pop(); leaf; leaf = pending.pop()) {
    pending.push(...leaf.down);
    if (leaf.self === 0) continue;
    let at = root;
    for (let step: Frame = leaf; step.of; step = step.up!) {
      let next = known.get(at)!.get(step.of);
      if (!next) {
        next = frame(step.of, at);
        known.get(at)!.set(step.of, next);
        known.set(next, new Map());
        at.down.push(next);
        all.push(next);
      }
      next.ticks += leaf.self;
      if (at === root) next.self += leaf.self;
      at = next;
    }
  }
  for (const each of [root, ...all]) each.down.sort((a, b) => b.ticks - a.ticks);
  return root;
}

const entry = fromEntry();
let leaf: Frame | undefined;
export const treeFrom = (end: "entry" | "leaf"): Frame => (end === "entry" ? entry : (leaf ??= fromLeaf(entry)));

export const pathOf = (of: Frame): Frame[] => (of.up ? [...pathOf(of.up), of] : [of]);

/** Below `top`, the frame of this function with most ticks; `top` itself if it is one. */
export function largestOf(wanted: Function, top: Frame): Frame | null {
  let best: Frame | null = null;
  const pending = [top];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (next.of === wanted) {
      if (!best || next.ticks > best.ticks) best = next;
    } else if (!best || next.ticks > best.ticks) {
      pending.push(...next.down);
    }
  }
  return best;
}
