/** The few things the page may do: save a checkpoint, verify one, post, pin. */

import { ApiError, send } from "./api";
import { notice } from "./copy.svelte";
import type { WindowState } from "./types";

export async function attempt(work: () => Promise<string>): Promise<boolean> {
  try {
    notice.say(await work());
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    notice.say(error.next ? `${error.message} ${error.next}` : error.message);
    return false;
  }
}

export function takeCheckpoint(of: WindowState): Promise<boolean> {
  return attempt(async () => {
    const body = {
      session_id: of.session_id ?? of.agent_id,
      ...(of.is_main ? {} : { agent_id: of.agent_id }),
    };
    const made = await send<{ id: string; reused: boolean }>("POST", "api/checkpoints", body);
    return made.reused
      ? `Nothing new since checkpoint ${made.id}.`
      : `Saved and verified: ${made.id}`;
  });
}
