/** Requests to the server this page came from, with the token of this tab. */

import { auth, root } from "./auth.svelte";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly next = "",
  ) {
    super(message);
  }

  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

export function authorized(more: Record<string, string> = {}): Record<string, string> {
  return auth.token ? { ...more, Authorization: `Bearer ${auth.token}` } : more;
}

export function address(path: string): URL {
  return new URL(path.replace(/^\//, ""), root);
}

export async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address(path), {
      ...init,
      headers: authorized(init.body ? { "Content-Type": "application/json" } : {}),
    });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiError(0, "The server does not answer.");
  }
  if (response.status === 401) {
    auth.expire();
    throw new ApiError(401, "The token is no longer valid.");
  }
  const answer = (await response.json().catch(orEmpty)) as { error?: string; try_next?: string };
  if (!response.ok)
    throw new ApiError(
      response.status,
      answer.error ?? `The server answered ${response.status}.`,
      answer.try_next,
    );
  return answer as T;
}

function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** An answer without JSON is empty; one that nobody waits for any more is none. */
function orEmpty(error: unknown): object {
  if (isAborted(error)) throw error;
  return {};
}

export function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  return ask<T>(path, { method, body: body === undefined ? null : JSON.stringify(body) });
}

/** A query of what is set; the rest is left out. */
export function query(
  values: Record<string, string | number | boolean | null | undefined | string[]>,
): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) pairs.append(name, String(one));
  }
  const text = pairs.toString();
  return text ? `?${text}` : "";
}
