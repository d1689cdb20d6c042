/** What agents and the watcher tell each other, in words. */

const TOPICS: Record<string, string> = { checkpoint_trigger: "checkpoint saved" };

export function topicName(topic: string | null): string {
  return TOPICS[topic ?? ""] ?? topic ?? "";
}

/** The watcher gives its reasons as names: context_60_percent, active_30_minutes. */
export function inWords(text: string): string {
  return text
    .replace(/\bcontext_(\d+)_percent\b/g, "window at least $1% full")
    .replace(/\bactive_(\d+)_minutes\b/g, "$1 minutes of work");
}
