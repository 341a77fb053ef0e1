// Where each frame is drawn, in parts of the whole width: no pixel is counted, so that any size and any printer will do.
import type { Frame } from "./tree";

export interface Box {
  frames: Frame[]; // a chain of single callees, outermost first; where `many` any number of siblings
  many: boolean; // frames too narrow to draw, together
  rest: number; // of these, ticks of frames that are not in the page
  left: number;
  width: number;
  row: number;
  ticks: number;
}

const kNarrowest = 0.0025;

/** The frames that follow a frame alone, with all of its ticks. */
function chain(from: Frame, joined: boolean): Frame[] {
  const list = [from];
  for (let at = from; joined && at.down.length === 1 && at.down[0].ticks === at.ticks && at.self === 0; ) {
    at = at.down[0];
    list.push(at);
  }
  return list;
}

/** Boxes from `top` on, rows from 0 down; a box stands behind the one it is called from. */
export function layout(top: Frame, joined: boolean): Box[] {
  const boxes: Box[] = [];
  const pending = [boxOf(top, 0, 1, 0, joined)]; // paths may be too deep to recurse
  for (let box = pending.pop(); box; box = pending.pop()) {
    boxes.push(box);
    if (!box.many) pending.push(...boxesBehind(box, joined).reverse());
  }
  return boxes;
}

function boxOf(frame: Frame, left: number, width: number, row: number, joined: boolean): Box {
  return { frames: frame.of ? chain(frame, joined) : [frame], many: false, rest: 0, left, width, row, ticks: frame.ticks };
}

/** The boxes of what `box` calls, the narrow ones as one. */
function boxesBehind({ frames, left, width, row }: Box, joined: boolean): Box[] {
  const last = frames[frames.length - 1];
  const boxes: Box[] = [];
  const narrow: Frame[] = [];
  let at = left;
  for (const next of last.down) {
    const part = (width * next.ticks) / last.ticks;
    if (part < kNarrowest) {
      narrow.push(next);
      continue;
    }
    boxes.push(boxOf(next, at, part, row + 1, joined));
    at += part;
  }
  const ticks = narrow.reduce((sum, next) => sum + next.ticks, last.rest);
  const part = (width * ticks) / last.ticks;
  if (part > 0.0004) boxes.push({ frames: narrow, many: true, rest: last.rest, left: at, width: part, row: row + 1, ticks });
  return boxes;
}
