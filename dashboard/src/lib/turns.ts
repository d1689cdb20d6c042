/** Which compactions stand between which turns, and what a turn answers. */

import { prose } from "./format";
import type { CompactionSummary, Turn } from "./types";

const SHORT_CHARS = 12;
const ANSWERED_CHARS = 120;

/** The compactions between the window of a turn and that of the turn before it, newest first; those
 * since the newest turn began stand above it. */
export function cut(
  compactions: CompactionSummary[],
  newer: number | null | undefined,
  older: number | null | undefined,
): CompactionSummary[] {
  if (newer == null || older == null) return [];
  return compactions
    .filter((one) => one.number < newer && one.number >= older)
    .sort((one, other) => other.number - one.number);
}

/** What a few words answer: the end of what was said before. */
export function answered(turn: Turn, before: Turn | undefined): string {
  if (turn.asked.trim().length > SHORT_CHARS || !before?.said) return "";
  const last = prose(before.said)
    .split(/(?<=[.?!:])\s+/)
    .at(-1);
  return last?.slice(-ANSWERED_CHARS) ?? "";
}

/** The newest page is asked for again and again; older ones stay as they were. */
export function joined(newest: Turn[], before: Turn[]): Turn[] {
  const last = newest.at(-1);
  if (!last || last.number === null) return [...newest, ...before];
  return [...newest, ...before.filter((one) => (one.number ?? 0) < (last.number ?? 0))];
}
