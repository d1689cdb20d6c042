/** What a path of the interface answers, asked for again when an event touches it. */

import { ApiError, ask } from "./api";
import { auth } from "./auth.svelte";
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

const MOST_KEPT = 200;

/** The last answers by their paths, for a page that is opened while the server does not answer.
 * Whoever logs in with another token, or logs out, sees none of them. */
class LastAnswers {
  #token: string | null = null;
  readonly #answers = new Map<string, unknown>();

  keep(path: string, answer: unknown): void {
    this.#forgetOthers();
    this.#answers.delete(path); // so that the oldest stands first
    this.#answers.set(path, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MOST_KEPT && oldest !== undefined) this.#answers.delete(oldest);
  }

  of(path: string): unknown {
    this.#forgetOthers();
    return this.#answers.get(path) ?? null;
  }

  #forgetOthers(): void {
    if (this.#token !== auth.token) this.#answers.clear();
    this.#token = auth.token;
  }
}

const lastAnswers = new LastAnswers();

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
      lastAnswers.keep(from, data);
    } catch (problem) {
      if (!(problem instanceof ApiError)) {
        if (problem instanceof DOMException) return;
        throw problem;
      }
      if (problem.isUnreachable) {
        live.lost();
        data ??= lastAnswers.of(from) as T | null;
      }
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
