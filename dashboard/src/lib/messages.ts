/** What agents and the watcher tell each other, in words. */

import type { BoardMessage } from "./types";

/** The topic under which the watcher tells a session of each checkpoint it saved. */
export const NOTICE = "checkpoint_trigger";
const TOPICS: Record<string, string> = { [NOTICE]: "checkpoint saved" };

export function topicName(topic: string | null): string {
  return TOPICS[topic ?? ""] ?? topic ?? "";
}

const STATES: Record<string, string> = { waiting: "not delivered yet", said: "delivered" };

export function stateName(state: string): string {
  return STATES[state] ?? state;
}

/** What a message says: its text, or its fields as lines where nothing in it is called a message. */
export function messageText(of: BoardMessage): string {
  const { message } = of.payload;
  if (typeof message === "string") return inWords(message);
  const fields = Object.entries(of.payload).map(([name, value]) => {
    const words = typeof value === "string" ? value : JSON.stringify(value);
    return `${name.replaceAll("_", " ")}: ${words}`;
  });
  return fields.join("\n") || "no text";
}

/** The watcher gives its reasons as names: context_60_percent, active_30_minutes. The id of a
 * checkpoint stays as it is, so that it can be copied. */
export function inWords(text: string): string {
  return text
    .replace(/\bcontext_(\d+)_percent\b/g, "window at least $1% full")
    .replace(/\bactive_(\d+)_minutes\b/g, "$1 minutes of work");
}
