"""When a subagent ends: messages to its name make it continue once, and it gets them.

What the asynchronous hooks of its calls print goes to its parent, and at its start nobody knows its
id yet. Its stop is the only moment at which a hook reaches it and nobody else.
"""

from __future__ import annotations

from typing import Any

from holdfast.client import hook_outputs
from holdfast.window import outbox
from holdfast.window.state import WindowBusy, lock_state
from holdfast.wire import places, scan

# It is told this once: as many as the client takes from a hook, 10,000 UTF-16 units, for certain.
MOST_AT_END = 20


def tell(payload: dict[str, Any], folder: str, now_ms: int) -> str:
    if payload.get("stop_hook_active") is not False:
        return ""  # it went on once for us, or for another
    agent_id = scan.text_of(payload, "agent_id")
    path = places.transcript(scan.text_of(payload, "transcript_path"), agent_id)
    try:
        with lock_state(folder) as state:
            messages = outbox.messages_for_turn(
                folder, state.transcript or path, now_ms, MOST_AT_END
            )
    except WindowBusy:
        return ""
    return hook_outputs.add_context("SubagentStop", to_model=messages)
