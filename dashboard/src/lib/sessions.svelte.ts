/** What a session is called, whether it runs or not: by its first request, which never changes. */

import { query } from "./api";
import { line, shortId } from "./format";
import { resource, type Resource } from "./resource.svelte";
import { route } from "./route.svelte";
import type { Listed } from "./types";
import { title } from "./windows";
import { getWorld } from "./world.svelte";

export interface SessionRow {
  id: string;
  project_id: string | null;
  title: string | null;
  started_at: string;
  ended_at: string | null;
  total_tools_used: number;
  total_errors: number;
}

export type SessionList = Listed & { sessions: SessionRow[] };

/** Call it while a component is set up. */
export function sessionList(): Resource<SessionList> {
  return resource<SessionList>(
    () => `api/sessions${query({ project_id: route.project, limit: 100 })}`,
    { on: ["session."], every: 3_000 },
  );
}

/** Call it while a component is set up; the answer names a session by its id. */
export function sessionNames(): (id: string) => string {
  const world = getWorld();
  const found = sessionList();
  return (id) => {
    const of = world.find(id, null);
    const known = found.data?.sessions.find((one) => one.id === id);
    return of ? title(of) : line(known?.title) || `Session ${shortId(id)}`;
  };
}
