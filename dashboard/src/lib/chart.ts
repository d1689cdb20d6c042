/** The horizontal scale of a session: steps, or a clock on which long pauses take no room. */

import { time } from "./format";
import type { Readings } from "./types";

export type Axis = "steps" | "clock";

const PAUSE_MS = 5 * 60_000;
const SHOWN_PAUSE_MS = 30_000;

export interface Scale {
  values: number[];
  /** Where a step or a moment stands. */
  place(step: number | null, at: number): number | null;
  /** The step that stands at or before a place. */
  stepAt(place: number): number;
  label(place: number): string;
}

export function scaleOf(readings: Readings, axis: Axis): Scale {
  const { step, at_ms: at } = readings;
  const values = axis === "steps" ? step : withoutPauses(at);
  const index = (place: number) => lastAtOrBefore(values, place);
  return {
    values,
    place(markStep, markAt) {
      if (axis === "steps") return markStep;
      const near = markStep === null ? lastAtOrBefore(at, markAt) : lastAtOrBefore(step, markStep);
      return values[near] ?? null;
    },
    stepAt: (place) => step[index(place)] ?? step[0] ?? 1,
    label: (place) => (axis === "steps" ? String(Math.round(place)) : time(at[index(place)])),
  };
}

function withoutPauses(at: number[]): number[] {
  let place = 0;
  return at.map((now, index) => {
    const passed = now - (at[index - 1] ?? now);
    place += passed > PAUSE_MS ? SHOWN_PAUSE_MS : passed;
    return place;
  });
}

export function lastAtOrBefore(values: number[], wanted: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((values[middle] ?? Infinity) <= wanted) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
