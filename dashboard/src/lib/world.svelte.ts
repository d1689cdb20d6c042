/** What every page needs to know: live windows, projects, the totals of today, the server. */

import { getContext, setContext, untrack } from "svelte";
import { query } from "./api";
import { clock } from "./clock.svelte";
import { live, type LiveEvent } from "./live.svelte";
import { resource, type Resource } from "./resource.svelte";
import { route } from "./route.svelte";
import { line, shortId } from "./format";
import { NOTICE } from "./messages";
import { project, projectNames, title } from "./windows";
import type {
  Blocking,
  History,
  MachineHealth,
  MessageList,
  Project,
  ServerDescription,
  ServerHealth,
  Today,
  WindowState,
} from "./types";

const ENDED_MS = 10_000; // a row that ends stays, pale, for that long
const SPOKEN_MS = 10_000; // at most one alert is spoken in that time
const READING_MS = 2_000;
const RESTING_MS = 30_000;
const KEY = Symbol("world");
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface World {
  readonly windows: WindowState[];
  readonly ended: ReadonlySet<string>;
  readonly health: Resource<{ agents: WindowState[] }>;
  readonly projects: Resource<{ projects: Project[] }>;
  readonly today: Resource<Today>;
  readonly blocking: Resource<{ blockings: Blocking[] }>;
  readonly server: Resource<ServerHealth>;
  readonly place: Resource<ServerDescription>;
  readonly board: Resource<MessageList>;
  readonly history: Resource<History>;
  readonly machine: Resource<MachineHealth>;
  /** Is the past still being read? */
  readonly isReading: boolean;
  readonly spoken: string;
  /** What this agent waits for; a waiting agent is named by its id or by its type. */
  waitOf(of: WindowState): Blocking | undefined;
  find(session: string, agent: string | null): WindowState | undefined;
  /** What a project is called; of those with the same name, with the folder above it. */
  projectNameOf(id: string | null | undefined, name: string | null | undefined): string | null;
  /** What an agent or a session is called, where only its id is known. */
  nameOf(id: string | null | undefined): string;
}

export function getWorld(): World {
  return getContext<World>(KEY);
}

/** A session's own window has no agent: an agent may have the id of its session. */
export function windowKey(of: WindowState): string {
  return keyOf(of.session_id, of.is_main ? "" : of.agent_id);
}

function keyOf(session: string | null, agent: string): string {
  return JSON.stringify([session, agent]);
}

/** When the reader's day began: a page may stand open for days. */
function midnight(now: number): string {
  return new Date(new Date(now).setHours(0, 0, 0, 0)).toISOString();
}

export function makeWorld(): World {
  const health = resource<{ agents: WindowState[] }>(
    () => `api/context/health${query({ project_id: route.project })}`,
    {
      on: ["session.", "subtask.", "window.changed", "checkpoint.kept"],
      touches: isNews,
      every: 3_000,
    },
  );
  /** The rest is asked for once the windows are here: a server that answers five at once answers
   * each of them late, and the reader waits for the rows. */
  const isDrawn = $derived(health.at > 0 || health.error !== null);
  const then = (path: string) => (isDrawn ? path : null);
  const projects = resource<{ projects: Project[] }>(() => then("api/projects?limit=100"), {
    on: ["session.started"],
    every: 10_000,
  });
  const names = $derived(projectNames(projects.data?.projects ?? []));
  const projectNameOf = (id: string | null | undefined, name: string | null | undefined) =>
    names.get(id ?? "") ?? name ?? null;
  const since = $derived(midnight(clock.now));
  const today = resource<Today>(
    () => then(`api/today${query({ since, project_id: route.project })}`),
    {
      on: ["checkpoint.", "brief.", "session.", "window.compact"],
      every: 5_000,
      keep: true,
    },
  );
  const blocking = resource<{ blockings: Blocking[] }>(
    () => then(`api/blocking${query({ project_id: route.project })}`),
    { on: ["blocking."] },
  );
  const server = resource<ServerHealth>(() => then("health"));
  const place = resource<ServerDescription>(() => then("api/server"));
  const board = resource<MessageList>(
    () => then(`api/messages${query({ limit: 1, without_topic: NOTICE })}`),
    { on: ["message."], every: 10_000, keep: true },
  );
  const history = resource<History>(
    () => then(`api/history${query({ project_id: route.project })}`),
    { on: ["brief."], every: 5_000, keep: true },
  );
  const machine = resource<MachineHealth>(() => then("api/machine"));
  const isReading = $derived.by(() => {
    const of = history.data?.progress;
    return of !== undefined && (of.read < of.sessions || of.compared < of.compactions);
  });
  again(history, () => (isReading || !history.data?.progress.sessions ? READING_MS : RESTING_MS));
  again(machine, () => RESTING_MS);

  /** No event tells of these: they are asked for again and again while the page is seen. */
  function again(of: Resource<unknown>, every: () => number): void {
    const isDue = $derived(of.at > 0 && clock.now - of.at > every());
    $effect(() => {
      if (isDue && live.state !== "off") untrack(() => of.again());
    });
  }

  let ended = $state.raw(new Map<string, [WindowState, number]>());
  let known: WindowState[] = [];
  let patched = $state.raw<WindowState[]>([]);
  let spoken = $state("");
  let spokenAt = 0;

  const ofEvent = (event: LiveEvent) =>
    keyOf(event.session_id, String(event.body["agent_id"] ?? ""));

  /** A reading of a window that is shown is drawn as it is; everything else is asked for. */
  function isNews(event: LiveEvent): boolean {
    if (event.kind !== "window.changed") return true;
    return (
      !("used_tokens" in event.body) || !known.some((one) => windowKey(one) === ofEvent(event))
    );
  }

  $effect(() => {
    const found = health.data?.agents;
    if (!found) {
      known = patched = [];
      return;
    }
    const here = new Set(found.map(windowKey));
    const now = Date.now();
    const leaving = new Map(
      [...untrack(() => ended)].filter(
        ([key, [, since]]) => !here.has(key) && now - since < ENDED_MS,
      ),
    );
    for (const one of known)
      if (!here.has(windowKey(one)) && !leaving.has(windowKey(one)))
        leaving.set(windowKey(one), [one, now]);
    known = patched = found.map((one) => ({
      ...one,
      project_name: projectNameOf(one.project_id, one.project_name),
    }));
    ended = leaving;
    if (leaving.size === 0) return;
    const timer = setTimeout(() => (ended = new Map()), ENDED_MS);
    return () => clearTimeout(timer);
  });

  $effect(() =>
    live.listen((events) => {
      const readings = new Map<string, LiveEvent>();
      for (const event of events) {
        if (event.kind === "window.changed" && "used_tokens" in event.body)
          readings.set(ofEvent(event), event);
        if (event.kind === "alert.raised") speak(event);
      }
      if (readings.size > 0)
        known = patched = known.map((one) => changed(one, readings.get(windowKey(one))));
    }),
  );

  function changed(one: WindowState, event: LiveEvent | undefined): WindowState {
    if (!event) return one;
    const { agent_id: _, at_ms: read, ...reading } = event.body;
    const ratio = reading["used_ratio"];
    const trend = typeof ratio === "number" ? [...one.trend, ratio].slice(-40) : one.trend;
    const at = typeof read === "number" ? new Date(read).toISOString() : event.at;
    return { ...one, ...reading, trend, updated_at: at } as WindowState;
  }

  function speak(event: LiveEvent): void {
    if (Date.now() - spokenAt < SPOKEN_MS) return;
    spokenAt = Date.now();
    const of = known.find((one) => windowKey(one) === ofEvent(event));
    const who = of ? line(of.project_name) || title(of) : shortId(event.session_id);
    spoken = `${String(event.body["zone"] ?? event.body["level"])}: window of ${who} at ${Math.round(100 * Number(event.body["used_ratio"]))} percent`;
  }

  const world: World = {
    get windows() {
      return ended.size ? [...patched, ...[...ended.values()].map(([one]) => one)] : patched;
    },
    get ended() {
      return new Set(ended.keys());
    },
    get spoken() {
      return spoken;
    },
    health,
    projects,
    today,
    blocking,
    server,
    place,
    board,
    history,
    machine,
    get isReading() {
      return isReading;
    },
    nameOf: (id) => {
      const of = patched.find((one) => one.agent_id === id);
      if (of) return of.is_main ? `${project(of)} ${shortId(id)}` : title(of);
      return UUID.test(id ?? "") ? shortId(id) : line(id);
    },
    projectNameOf,
    waitOf: (of) =>
      blocking.data?.blockings.find(
        (one) =>
          one.blocked_agent === of.agent_id ||
          (of.agent_type !== null && one.blocked_agent === of.agent_type),
      ),
    find: (session, agent) =>
      patched.find(
        (one) => one.session_id === session && (agent ? one.agent_id === agent : one.is_main),
      ),
  };
  setContext(KEY, world);
  return world;
}
