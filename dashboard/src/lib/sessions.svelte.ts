/** What a session is called, whether it runs or not: by its first request, which never changes. */

import { query } from "./api";
import { line, shortId } from "./format";
import { resource, type Resource } from "./resource.svelte";
import { route } from "./route.svelte";
import type { HistorySession, Listed } from "./types";
import { title } from "./windows";
import { getWorld } from "./world.svelte";

export type SessionList = Listed & { sessions: HistorySession[] };

/** Call it while a component is set up. */
export function sessionList(
  wanted: () => Record<string, string | undefined> = () => ({}),
): Resource<SessionList> {
  return resource<SessionList>(
    () => `api/history/sessions${query({ project_id: route.project, limit: 100, ...wanted() })}`,
    { on: ["session."], every: 3_000, keep: true },
  );
}

/** Call it while a component is set up; the answer names a session by its id. A page about one
 * session asks for that one, which may be older than the newest. */
export function sessionNames(only?: () => string): (id: string) => string {
  const world = getWorld();
  const found = sessionList(() => (only ? { words: only(), project_id: "" } : {}));
  return (id) => {
    const of = world.find(id, null);
    const known = found.data?.sessions.find((one) => one.id === id);
    const past = world.history.data?.compactions.find((one) => one.session_id === id);
    return of ? title(of) : line(known?.title ?? past?.title) || `Session ${shortId(id)}`;
  };
}
