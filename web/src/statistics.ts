// The intervals of src/report/statistics/interval.h, for the page.

export interface Interval {
  low: number;
  high: number;
}

const Z = 1.959963984540054;

/** Wilson's interval for a share of so many samples. */
export function wilson(share: number, samples: number): Interval {
  if (samples <= 0) return { low: 0, high: 1 };
  const p = Math.min(1, Math.max(0, share));
  const z2 = Z * Z;
  const middle = p + z2 / (2 * samples);
  const half = Z * Math.sqrt((p * (1 - p)) / samples + z2 / (4 * samples * samples));
  const scale = 1 + z2 / samples;
  return { low: Math.max(0, Math.min(p, (middle - half) / scale)), high: Math.min(1, Math.max(p, (middle + half) / scale)) };
}

/** Whether two ends of what a share may be are so far apart that an interval around one would hide how little is known. */
export function isWideRange(low: number, high: number, samples: number): boolean {
  const around = wilson(low, samples);
  return high - low >= 0.005 && high - low > Math.max(low - around.low, around.high - low);
}

export interface Places {
  first: number;
  last: number;
}

/** Which places of the order, by size, the intervals allow each: first = 1 + those certainly larger. */
export function places(intervals: Interval[]): Places[] {
  const lows = intervals.map((interval) => interval.low).sort((a, b) => a - b);
  const highs = intervals.map((interval) => interval.high).sort((a, b) => a - b);
  return intervals.map(({ low, high }) => ({
    first: 1 + intervals.length - firstAbove(lows, high),
    last: intervals.length - firstAtLeast(highs, low),
  }));
}

/** Index of the first number above `bound` in an ascending list. */
function firstAbove(list: number[], bound: number): number {
  return bisect(list, (value) => value > bound);
}

function firstAtLeast(list: number[], bound: number): number {
  return bisect(list, (value) => value >= bound);
}

function bisect(list: number[], isBehind: (value: number) => boolean): number {
  let low = 0;
  for (let high = list.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (isBehind(list[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
