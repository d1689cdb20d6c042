/** Numbers, times and texts as they are shown. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const UNKNOWN = "unknown";

export function number(value: number | null | undefined): string {
  return value === null || value === undefined
    ? UNKNOWN
    : Math.round(value).toLocaleString("en-US");
}

/** A count of something that is compared later, or cannot be. */
export function counted(value: number | null | undefined, isRead: boolean): string {
  return value === null || value === undefined
    ? isRead
      ? "no summary"
      : "not read"
    : number(value);
}

/** What was restored, or would have been if hooks had run. */
export function restored(value: number | null, wasGiven: boolean): string {
  return value === null ? "" : `${number(value)}${wasGiven || !value ? "" : " would be"}`;
}

export function bytes(value: number): string {
  if (value < 1e6) return `${Math.ceil(value / 1e3)} KB`;
  return value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(1)} GB`;
}

export function money(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : value.toFixed(2);
}

export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  const size = Math.abs(value);
  if (size < 1_000) return String(Math.round(value));
  if (size < 10_000) return `${(value / 1_000).toFixed(1)}K`;
  if (size < 999_500) return `${Math.round(value / 1_000)}K`;
  return size < 999_995_000 ? `${(value / 1e6).toFixed(2)}M` : `${(value / 1e9).toFixed(2)}B`;
}

export function percent(ratio: number | null | undefined, digits = 1): string {
  return ratio === null || ratio === undefined ? UNKNOWN : `${(100 * ratio).toFixed(digits)}%`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function millis(at: string | number | null | undefined): number | null {
  if (at === null || at === undefined) return null;
  const ms = typeof at === "number" ? at : Date.parse(at);
  return Number.isNaN(ms) ? null : ms;
}

/** 40 s, 12 min, 2 h 58, 2 d. */
export function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / 1_000))} s`;
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 60) return `${minutes} min`;
  if (ms < DAY) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
  return `${Math.floor(ms / DAY)} d`;
}

/** Seconds and minutes ago, the clock today, the date before. */
export function ago(at: string | number | null | undefined, now: number): string {
  const ms = millis(at);
  if (ms === null) return UNKNOWN;
  const passed = now - ms;
  if (passed < HOUR) return `${span(Math.max(0, passed))} ago`;
  return when(ms, now);
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SECONDS = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DATE_OF_YEAR = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
});
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

export function time(at: string | number | null | undefined): string {
  const ms = millis(at);
  return ms === null ? UNKNOWN : CLOCK.format(ms);
}

/** To the second, with the date if it is not today. */
export function seconds(at: string | number | null | undefined): string {
  const ms = millis(at);
  if (ms === null) return UNKNOWN;
  return isToday(ms) ? SECONDS.format(ms) : `${date(ms)} ${SECONDS.format(ms)}`;
}

export function isToday(at: string | number | null | undefined, now = Date.now()): boolean {
  const ms = millis(at);
  return ms !== null && new Date(ms).toDateString() === new Date(now).toDateString();
}

export function when(at: string | number | null | undefined, now: number): string {
  const ms = millis(at);
  if (ms === null) return UNKNOWN;
  return isToday(ms, now) ? CLOCK.format(ms) : `${date(ms, now)} ${CLOCK.format(ms)}`;
}

/** With its year, unless it is this one. */
function date(ms: number, now = Date.now()): string {
  const isThisYear = new Date(ms).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? DATE : DATE_OF_YEAR).format(ms);
}

export function full(at: string | number | null | undefined): string {
  const ms = millis(at);
  return ms === null ? UNKNOWN : FULL.format(ms);
}

// Characters that draw nothing, or draw something else than they are: a reader should see them.
// eslint-disable-next-line no-control-regex
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const LONGEST = 20_000;

/** Text of anybody, made harmless to look at: hidden and direction characters become visible. */
export function plain(text: string | null | undefined): string {
  if (!text) return "";
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
  return cut.replace(
    HIDDEN,
    (one) => `⟨${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** The same on one line. */
export function line(text: string | null | undefined): string {
  return plain(text?.slice(0, LONGEST).replace(/\s+/g, " ").trim());
}

/** On one line, without the marks of Markdown and the client's own tags. */
export function prose(text: string | null | undefined): string {
  return line(text?.replace(/\*\*|^#+\s|`+|^\s*[-*]\s|^---+$|<\/?[a-z][a-z0-9_-]*>/gm, ""));
}

/** What began a compaction, in words. */
export function trigger(name: string | null | undefined): string {
  if (name === "auto") return "automatic";
  return name === "manual" ? "by /compact" : line(name) || "trigger unknown";
}

/** With its project: an id is a time, and two projects may have saved one at the same time. */
export function resumeCommand(id: string, project: string | null | undefined): string {
  const where = project ? ` --project '${project.replaceAll("'", "'\\''")}'` : "";
  return `holdfast resume ${id}${where} --load`;
}

export function shortId(id: string | null | undefined): string {
  return plain(id?.slice(0, 8));
}

export function model(name: string | null | undefined): string {
  return name ? plain(name.replace(/^claude-/, "")) : "model unknown";
}
