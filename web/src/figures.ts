// Figures as people read them.
import type { Interval } from "./statistics";

const MINUS = "\u2212";
const THIN = "\u202f";

const fixed = (value: number, decimals: number) => value.toFixed(decimals).replace("-", MINUS);

/** 1234567 as "1 234 567", with narrow spaces. */
export const grouped = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, THIN);

export const percent = (share: number, decimals = 2) => fixed(100 * share, decimals);

/** "6.30–7.90", of percent. */
export const range = (interval: Interval, decimals = 2) =>
  `${percent(interval.low, decimals)}\u2013${percent(interval.high, decimals)}`;

/** "0.0 to 95.8 %": a range of which no end is better known. */
export const fromTo = (interval: Interval) => `${percent(interval.low, 1)} to ${percent(interval.high, 1)}\u00a0%`;

export const signed = (value: number, decimals = 2) => (value > 0 ? "+" : "") + fixed(value, decimals);

export const seconds = (value: number) => (Math.abs(value) < 0.0995 ? `${fixed(1000 * value, 1)}${THIN}ms` : `${fixed(value, 3)}${THIN}s`);

export const counted = (value: number, noun: string) => `${grouped(value)} ${noun}${value === 1 ? "" : "s"}`;

/** Round numbers for an axis from 0 to `most`, about `wanted` of them. */
export function axisSteps(most: number, wanted = 4): number[] {
  if (!(most > 0)) return [0];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!;
  const steps = [];
  for (let i = 0; i * step <= most * 1.0001; ++i) steps.push(Number((i * step).toPrecision(6)));
  return steps;
}
