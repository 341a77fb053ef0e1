// Squarified treemap: M. Bruls, K. Huizing, J. van Wijk, "Squarified treemaps", Data Visualization 2000, 33-42.

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A rectangle for each size, in order; together they fill `room`. Sizes are above 0 and the largest comes first. */
export function squarify(sizes: number[], room: Rect): Rect[] {
  const rects: Rect[] = [];
  let rest = { ...room };
  let left = sizes.reduce((sum, size) => sum + size, 0);
  for (let first = 0; first < sizes.length; ) {
    const side = Math.min(rest.width, rest.height);
    const scale = left > 0 ? (rest.width * rest.height) / left : 0;
    let count = 1;
    let row = sizes[first];
    while (first + count < sizes.length && worst(sizes, first, count + 1, row + sizes[first + count], side, scale) <= worst(sizes, first, count, row, side, scale))
      row += sizes[first + count++];
    rest = place(sizes.slice(first, first + count), row, scale, rest, rects);
    left -= row;
    first += count;
  }
  return rects;
}

/** How far from a square the worst of a row is. */
function worst(sizes: number[], first: number, count: number, sum: number, side: number, scale: number): number {
  const area = sum * scale;
  const largest = sizes[first] * scale;
  const smallest = sizes[first + count - 1] * scale;
  return Math.max((side * side * largest) / (area * area), (area * area) / (side * side * smallest));
}

/** Lays a row along the shorter side; what is left of the room. */
function place(row: number[], sum: number, scale: number, room: Rect, rects: Rect[]): Rect {
  const upright = room.width >= room.height;
  const thick = (sum * scale) / Math.max(1e-9, upright ? room.height : room.width);
  let at = upright ? room.y : room.x;
  for (const size of row) {
    const long = (size * scale) / Math.max(1e-9, thick);
    rects.push(upright ? { x: room.x, y: at, width: thick, height: long } : { x: at, y: room.y, width: long, height: thick });
    at += long;
  }
  return upright
    ? { ...room, x: room.x + thick, width: Math.max(0, room.width - thick) }
    : { ...room, y: room.y + thick, height: Math.max(0, room.height - thick) };
}
