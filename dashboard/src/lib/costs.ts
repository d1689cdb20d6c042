/** What sessions cost: the range that is shown first, and one scale for a chart. */

import type { Tokens } from "./types";

const DAY = 24 * 60 * 60_000;

type Sum = Omit<Tokens, "id" | "name">;

export function tokens(one: Sum): number {
  return one.input + one.output + one.cache_read + one.cache_written;
}

/** The share of the highest day, in one unit: a day without a price has no height among costs. */
export function shares(days: Sum[], isPriced: boolean): number[] {
  const sizes = days.map((one) => (isPriced ? (one.cost ?? 0) : tokens(one)));
  const most = Math.max(1e-9, ...sizes);
  return sizes.map((size) => size / most);
}

/** The last month, or the shortest longer range in which there is an answer. */
export function rangeWith(lastDay: string, now: number): string {
  const days = lastDay ? (now - Date.parse(lastDay)) / DAY : 0;
  return days < 30 ? "30" : days < 365 ? "366" : "all";
}
