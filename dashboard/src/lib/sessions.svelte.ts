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
  wanted: () => Record<string, string> = () => ({}),
): Resource<SessionList> {
  return resource<SessionList>(
    () => `api/history/sessions${query({ project_id: route.project, limit: 100, ...wanted() })}`,
    { on: ["session."], every: 3_000, keep: true },
  );
}

/** Call it while a component is set up; the answer names a session by its id. */
export function sessionNames(): (id: string) => string {
  const world = getWorld();
  const found = sessionList();
  return (id) => {
    const of = world.find(id, null);
    const known = found.data?.sessions.find((one) => one.id === id);
    const past = world.history.data?.compactions.find((one) => one.session_id === id);
    return of ? title(of) : line(known?.title ?? past?.title) || `Session ${shortId(id)}`;
  };
}
