/** What a path of the interface answers, asked for again when an event touches it. */

import { ApiError, ask } from "./api";
import { live, type LiveEvent } from "./live.svelte";

export interface Resource<T> {
  readonly data: T | null;
  readonly error: ApiError | null;
  readonly at: number;
  set(data: T): void;
  again(): void;
}

interface Options {
  /** Kinds of events that touch it, by their beginnings. */
  on?: string[];
  /** Does this event touch it? Asked after its kind. */
  touches?: (event: LiveEvent) => boolean;
  /** Keep what was there until the new path has answered. */
  keep?: boolean;
  /** Ask at most this often. */
  every?: number;
}

/** Call it while a component is set up. A path of null asks for nothing. */
export function resource<T>(path: () => string | null, options: Options = {}): Resource<T> {
  let data = $state.raw<T | null>(null);
  let error = $state.raw<ApiError | null>(null);
  let at = $state(0);
  let round = $state(0);
  const wanted = $derived(path()); // the same path is not asked again when the address changes
  let asked = "";
  let askedAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function load(from: string, signal: AbortSignal): Promise<void> {
    askedAt = Date.now();
    try {
      data = await ask<T>(from, { signal });
      error = null;
      at = Date.now();
    } catch (problem) {
      if (!(problem instanceof ApiError)) {
        if (problem instanceof DOMException) return;
        throw problem;
      }
      if (problem.isUnreachable) live.lost();
      error = problem;
    }
  }

  $effect(() => {
    const from = wanted;
    void round;
    if (from !== asked) {
      asked = from ?? "";
      if (!options.keep) data = null;
      error = null;
    }
    if (from === null) return;
    const stop = new AbortController();
    void load(from, stop.signal);
    return () => stop.abort();
  });

  const again = () => {
    clearTimeout(timer);
    timer = undefined;
    round += 1;
  };
  $effect(() => {
    const forget = live.listen((events, missed) => {
      const touched =
        missed ||
        events.some(
          (event) =>
            options.on?.some((kind) => event.kind.startsWith(kind)) &&
            (options.touches?.(event) ?? true),
        );
      if (!touched || timer) return;
      timer = setTimeout(again, Math.max(0, askedAt + (options.every ?? 2_000) - Date.now()));
    });
    return () => {
      forget();
      clearTimeout(timer);
      timer = undefined;
    };
  });

  return {
    get data() {
      return data;
    },
    get error() {
      return error;
    },
    get at() {
      return at;
    },
    set(value: T) {
      data = value;
    },
    again,
  };
}
