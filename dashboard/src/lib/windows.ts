/** What can be said about a window, in the words of every page. */

import { line, millis, number, plural, prose, shortId, span, UNKNOWN } from "./format";
import type { Project, WindowState, Zone } from "./types";

export const ZONES: Zone[] = ["red", "orange", "yellow", "green"];
const IDLE_MS = 5 * 60_000;
const LOUD = ["urgent", "critical"];

/** The first request names a session for as long as it lives; an agent is named by its type. */
export function title(of: WindowState): string {
  if (!of.is_main) return line(of.agent_type) || shortId(of.agent_id);
  return prose(of.title) || prose(of.asked) || `Session ${shortId(of.session_id ?? of.agent_id)}`;
}

/** The newest request of a session, where it is not its title, and what a short one answers; the
 * task of an agent. */
export function asked(of: WindowState): string {
  if (of.is_main && prose(of.asked) === title(of)) return "";
  return withQuestion(prose(of.asked), of.answers);
}

/** "1" says nothing without the question that it answers. */
export function withQuestion(words: string, answers: string | null | undefined): string {
  return answers ? `${words} (to “${prose(answers)}”)` : words;
}

/** Nothing runs in a session that nobody uses any more: what was under way was left. */
export function workState(word: string, isLive: boolean): string {
  return isLive || !["running", "active"].includes(word) ? word : "unfinished";
}

export function forecast(of: WindowState): string {
  if (of.compacting) return "not yet";
  const steps = stepsLeft(of);
  return steps === UNKNOWN ? UNKNOWN : `${steps} left`;
}

/** One number, as `holdfast status` says it. */
export function stepsLeft(of: WindowState): string {
  if (of.ops_left === null) return UNKNOWN;
  return of.ops_left < 1 ? "less than one step" : `about ${plural(rough(of.ops_left), "step")}`;
}

/** The steps between which it fills up; null if that is not known. */
export function band(of: WindowState): [number, number] | null {
  if (of.ops_left === null || of.compacting) return null;
  return [of.ops_left_low ?? of.ops_left, of.ops_left_high ?? of.ops_left];
}

/** No more digits than an estimate has; halves go to the even number, as in Python. */
function rough(steps: number): number {
  const digit = steps < 30 ? 1 : steps < 100 ? 5 : steps < 1000 ? 10 : 100;
  const whole = Math.floor(steps / digit);
  const rest = steps / digit - whole;
  return digit * (rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole);
}

/** What an event of pressure says: an alert has a level, a zone has a colour. */
export function pressure(level: unknown, zone: unknown): string {
  const words = [
    typeof level === "string" && level ? `${line(level)} alert` : "",
    typeof zone === "string" && zone ? `zone ${line(zone)}` : "",
  ];
  return words.filter(Boolean).join(", ") || "pressure";
}

/** Until it is full at its pace; a window that is blocked or idle has none, and says so. */
export function timeLeft(of: WindowState, isBlocked: boolean, now: number): string {
  if (of.compacting) return "";
  if (isBlocked) return "blocked";
  const idle = now - (millis(of.updated_at) ?? now);
  if (idle > IDLE_MS) return `idle for ${span(idle)}`;
  return of.ops_left !== null && of.pace_ms ? duration(of.ops_left * of.pace_ms) : "";
}

/** As `holdfast status` says it. */
export function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "under a minute";
  return minutes < 90 ? `${number(rough(minutes))} min` : `${(minutes / 60).toFixed(0)} h`;
}

export function sessionPath(of: WindowState): string {
  const session = `session/${encodeURIComponent(of.session_id ?? of.agent_id)}`;
  return of.is_main ? session : `${session}/${encodeURIComponent(of.agent_id)}`;
}

export function compactionPath(session: string, number: number, agent: string | null): string {
  const path = `compaction/${encodeURIComponent(session)}/${number}`;
  return agent ? `${path}/${encodeURIComponent(agent)}` : path;
}

export function project(of: WindowState): string {
  return line(of.project_name) || line(of.project_path?.split("/").at(-1)) || UNKNOWN;
}

/** The name of each project by its id; of those with the same name, with the folder above it. */
export function projectNames(projects: Project[]): Map<string, string> {
  const nameOf = (one: Project) =>
    line(one.name) || line(one.path.split("/").at(-1)) || line(one.path);
  const alike = Map.groupBy(projects, nameOf);
  return new Map(
    projects.map((one) => {
      const name = nameOf(one);
      const above = one.path.split("/").at(-2);
      return [
        one.id,
        (alike.get(name)?.length ?? 0) > 1 && above ? `${line(above)}/${name}` : name,
      ];
    }),
  );
}

export function isLoud(of: WindowState): boolean {
  return LOUD.includes(of.alert ?? "");
}

/** Red and orange first; then by the steps that are shown; a window without a forecast after
 * those of its kind, by how full it is. */
export function compactsNext(one: WindowState, other: WindowState): number {
  return (
    urgency(one) - urgency(other) ||
    order(one) - order(other) ||
    (other.used_ratio ?? 0) - (one.used_ratio ?? 0)
  );
}

function order(of: WindowState): number {
  return of.compacting ? Number.MAX_VALUE : (of.ops_left ?? Number.MAX_VALUE);
}

function urgency(of: WindowState): number {
  return of.zone === "red" ? 0 : of.zone === "orange" ? 1 : 2;
}

/** Does it fill up within so many minutes, at its pace? One that nobody uses does not. */
export function isNear(of: WindowState, minutes: number, now: number): boolean {
  const idle = now - (millis(of.updated_at) ?? now);
  return !of.compacting && idle <= IDLE_MS && of.minutes_left !== null && of.minutes_left < minutes;
}

export const ORDERS: Record<string, (one: WindowState, other: WindowState) => number> = {
  "What compacts next": compactsNext,
  Fullest: (one, other) => (other.used_ratio ?? 0) - (one.used_ratio ?? 0),
  Newest: (one, other) => (other.updated_at ?? "").localeCompare(one.updated_at ?? ""),
  Project: (one, other) =>
    project(one).localeCompare(project(other)) || (other.used_ratio ?? 0) - (one.used_ratio ?? 0),
};

export interface Family {
  main: WindowState;
  agents: WindowState[];
}

/** Sessions with their agents beneath; an agent whose session is not there stands alone. */
export function families(windows: WindowState[]): Family[] {
  const mains = new Map(windows.filter((one) => one.is_main).map((one) => [one.session_id, one]));
  const found = new Map<WindowState, WindowState[]>();
  for (const one of windows) {
    const main = mains.get(one.session_id) ?? one;
    if (!found.has(main)) found.set(main, []);
    if (main !== one) found.get(main)?.push(one);
  }
  return [...found].map(([main, agents]) => ({ main, agents }));
}
