// The call tree, from the outermost functions down or from what ran up to its callers.
import type { Tree } from "../data";
import { data, functions, run, type Function } from "../profile";

export interface Frame {
  of: Function | null; // null: all
  ticks: number;
  self: number;
  isEstimate: boolean;
  rest: number; // ticks on frames too small to be in the page, which would stand behind it
  up: Frame | null;
  down: Frame[]; // most ticks first
  depth: number;
}

function frame(of: Function | null, up: Frame | null): Frame {
  return { of, ticks: 0, self: 0, isEstimate: false, rest: 0, up, down: [], depth: up ? up.depth + 1 : 0 };
}

/** A tree while it grows: functions that look alike have one frame. */
class Growing {
  readonly root = frame(null, null);
  private known = new Map<Frame, Map<Function, Frame>>([[this.root, new Map()]]);

  constructor() {
    this.root.ticks = this.root.rest = run.ticks;
  }
  below(up: Frame, of: Function): Frame {
    const siblings = this.known.get(up)!;
    let next = siblings.get(of);
    if (!next) {
      next = frame(of, up);
      siblings.set(of, next);
      this.known.set(next, new Map());
      up.down.push(next);
    }
    return next;
  }
  /** All its nodes; what ends at one is passed to `end`. */
  add(tree: Tree | null, end: (at: Frame, ticks: number) => void) {
    const list: Frame[] = [];
    const nodes = tree?.nodes ?? [];
    const estimates = new Set(tree?.estimates);
    for (let i = 0; i < nodes.length; i += 4) {
      const up = nodes[i] < 0 ? this.root : list[nodes[i]];
      const next = this.below(up, functions[nodes[i + 1]]);
      list.push(next);
      next.ticks += nodes[i + 2];
      next.isEstimate ||= estimates.has(i / 4);
      next.rest += nodes[i + 2] - nodes[i + 3];
      up.rest -= nodes[i + 2];
      end(next, nodes[i + 3]);
    }
  }
  sorted(): Frame {
    for (const each of this.known.keys()) each.down.sort((a, b) => b.ticks - a.ticks);
    return this.root;
  }
}

function fromEntry(): Frame {
  const tree = new Growing();
  tree.add(data.from_entry, (at, ticks) => (at.self += ticks));
  return tree.sorted();
}

/** What ran, and below it who called it: made of the same nodes, and of those that are too small there. */
function fromLeaf(entry: Frame): Frame {
  const tree = new Growing();
  const pending = [...entry.down];
  for (let leaf = pending.pop(); leaf; leaf = pending.pop()) {
    pending.push(...leaf.down);
    if (leaf.self === 0) continue;
    const isRest = leaf.down.some((next) => next.isEstimate); // of all callers together it is exact
    let at = tree.root;
    at.rest -= leaf.self;
    for (let step: Frame = leaf; step.of; step = step.up!) {
      at = tree.below(at, step.of);
      at.ticks += leaf.self;
      at.isEstimate ||= leaf.isEstimate || (isRest && step !== leaf);
    }
  }
  tree.add(data.small_from_leaf, () => undefined);
  for (const each of tree.root.down) each.self = each.ticks;
  return tree.sorted();
}

const entry = fromEntry();
let leaf: Frame | undefined;
export const treeFrom = (end: "entry" | "leaf"): Frame => (end === "entry" ? entry : (leaf ??= fromLeaf(entry)));

const hasEstimates = [data.from_entry, data.small_from_leaf].some((tree) => tree !== null && tree.estimates.length > 0);
export const estimatesNote = hasEstimates
  ? "“About”: inlined code. Its ticks are divided between the callers of the function around it in proportion; which of them had more is not known."
  : "";

/** All ticks below `top` on frames too small to be in the page. */
export function restOf(top: Frame): number {
  let ticks = 0;
  const pending = [top];
  for (let next = pending.pop(); next; next = pending.pop()) {
    ticks += next.rest;
    pending.push(...next.down);
  }
  return ticks;
}

export function pathOf(of: Frame): Frame[] {
  const path = [of];
  for (let up = of.up; up; up = up.up) path.push(up);
  return path.reverse();
}

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
