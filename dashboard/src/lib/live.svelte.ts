/** One stream of events per tab. What comes within half a second is told together. */

import { address, authorized } from "./api";
import { auth } from "./auth.svelte";

export interface LiveEvent {
  id: number;
  kind: string;
  project_id: string | null;
  session_id: string | null;
  at: string;
  body: Record<string, unknown>;
}

/** `missed`: events were lost, so everything has to be asked for again. */
export type Listener = (events: LiveEvent[], missed: boolean) => void;

const GATHER_MS = 500;
const SILENT_MS = 45_000; // the server is heard of every 15 seconds
const PROBE_MS = 4_500; // twice that, and it is noticed within ten seconds
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

class Live {
  state = $state<"starting" | "live" | "off">("starting");
  offSince = $state(0);
  nextTry = $state(0);
  reason = $state("");
  held = $state(false);
  heardAt = $state(0);
  readonly #listeners = new Set<Listener>();
  #queue: LiveEvent[] = [];
  #missed = false;
  #last = "";
  #stop: AbortController | null = null;
  #wake: (() => void) | null = null;

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follow the stream for as long as somebody is logged in; the answer ends it. */
  run(): () => void {
    let over = false;
    const gather = setInterval(() => this.#tell(), GATHER_MS);
    const probe = setInterval(() => void this.#probe(), PROBE_MS);
    const seen = () => (document.hidden ? this.#stop?.abort() : this.#wake?.());
    document.addEventListener("visibilitychange", seen);
    void this.#follow(() => over);
    return () => {
      over = true;
      clearInterval(gather);
      clearInterval(probe);
      document.removeEventListener("visibilitychange", seen);
      this.#stop?.abort();
      this.#wake?.();
      this.state = "starting";
      this.#queue = [];
      this.#last = "";
    };
  }

  tryNow(): void {
    this.#wake?.();
  }

  /** A request found nobody: the stream may not have noticed yet. */
  lost(): void {
    if (this.state === "live") this.#stop?.abort();
  }

  /** A server that stands still keeps its streams open: it is asked while it says nothing. */
  async #probe(): Promise<void> {
    if (this.state !== "live" || document.hidden || Date.now() - this.heardAt < PROBE_MS) return;
    try {
      await fetch(address("health"), { signal: AbortSignal.timeout(PROBE_MS - 500) });
    } catch {
      this.lost();
    }
  }

  async #follow(isOver: () => boolean): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!isOver()) {
      if (document.hidden) {
        await this.#sleep(null);
        continue;
      }
      const began = Date.now();
      try {
        await this.#read();
        this.reason = "";
      } catch (error) {
        this.reason = error instanceof Error && error.name === "Refused" ? error.message : "";
      }
      if (isOver() || document.hidden) continue;
      if (this.state !== "off") {
        this.state = "off";
        this.offSince = Date.now();
        wait = FIRST_WAIT_MS;
      }
      if (Date.now() - began > LONGEST_WAIT_MS) wait = FIRST_WAIT_MS;
      this.nextTry = Date.now() + wait;
      await this.#sleep(wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  }

  async #read(): Promise<void> {
    this.#stop = new AbortController();
    const headers = authorized({ Accept: "text/event-stream" });
    if (this.#last) headers["Last-Event-ID"] = this.#last;
    const response = await fetch(address("api/events"), { headers, signal: this.#stop.signal });
    if (response.status === 401) return auth.expire();
    if (!response.ok || !response.body) {
      const answer = (await response.json().catch(() => ({}))) as { error?: string };
      throw Object.assign(new Error(answer.error ?? ""), { name: "Refused" });
    }
    if (this.state === "off") this.#missed = true;
    this.state = "live";
    await this.#take(response.body.pipeThrough(new TextDecoderStream()).getReader());
  }

  async #take(reader: ReadableStreamDefaultReader<string>): Promise<void> {
    let rest = "";
    for (;;) {
      const silence = setTimeout(() => this.#stop?.abort(), SILENT_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      this.heardAt = Date.now();
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) this.#event(block);
    }
  }

  #event(block: string): void {
    let data = "";
    for (const line of block.split("\n")) {
      if (line.startsWith("id: ")) this.#last = line.slice(4);
      if (line === "event: missed") this.#missed = true;
      if (line.startsWith("data: ")) data = line.slice(6);
    }
    if (data && data !== "{}") this.#queue.push(JSON.parse(data) as LiveEvent);
  }

  #tell(): void {
    if (this.held || (this.#queue.length === 0 && !this.#missed)) return;
    const [events, missed] = [this.#queue, this.#missed];
    [this.#queue, this.#missed] = [[], false];
    for (const listener of this.#listeners) listener(events, missed);
  }

  #sleep(ms: number | null): Promise<void> {
    return new Promise((done) => {
      const timer = ms === null ? undefined : setTimeout(done, ms);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}

export const live = new Live();
