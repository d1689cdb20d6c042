/** Which compactions stand between which turns. */

import type { CompactionSummary, Turn } from "./types";

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

/** The newest page is asked for again and again; older ones stay as they were. */
export function joined(newest: Turn[], before: Turn[]): Turn[] {
  const last = newest.at(-1);
  if (!last || last.number === null) return [...newest, ...before];
  return [...newest, ...before.filter((one) => (one.number ?? 0) < (last.number ?? 0))];
}
