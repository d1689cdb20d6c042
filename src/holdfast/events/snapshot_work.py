"""What the shared work adds to a checkpoint's snapshot: the tree, agents, messages, calls, pins.

From the projection where it is fresh; else from what the transcript and the spool tell themselves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.hub.projection.projection_file import is_fresh, listed, read_projection
from holdfast.window.state import State
from holdfast.wire import places, spool

MOST_ACTIONS = 100
SPOOL_BYTES = 32 << 10
PLACES = ("hierarchy", "waves", "agent_states", "recent_messages", "recent_actions")


def added(snapshot: Mapping[str, Any], state: State, folder: str, now_ms: int) -> dict[str, Any]:
    """The snapshot with it, and with what is pinned; what nobody knows is left as it was."""
    work = read_projection(folder)
    more = {"recent_messages": listed(work, "recent_messages")[-50:], "pins": _pins(state)}
    if not is_fresh(work, now_ms):
        return {**snapshot, **_known(snapshot, folder), **more}
    told = {name: work[name] for name in PLACES if work.get(name)}
    return {**snapshot, **told, **more}


def _pins(state: State) -> list[dict[str, Any]]:
    """Who never pinned anything pays for two looks: a compaction waits for us."""
    of_session = f"{places.window(state.session_id)}/budget.json"
    if not any(map(os.path.exists, (f"{places.home()}/budget", of_session))):
        return []
    from holdfast.budget import ledger

    return [one._asdict() for one in ledger.read(state.project, state.session_id).pins]


def _known(snapshot: Mapping[str, Any], folder: str) -> dict[str, Any]:
    asked = {"prompt": snapshot.get("context_summary", ""), "status": "active"}
    tasks = [{**one} for one in listed(snapshot, "active_tasks")]
    calls = _calls(folder) or listed(snapshot, "recent_actions")
    return {"hierarchy": {"requests": [{**asked, "tasks": tasks}]}, "recent_actions": calls}


def _calls(folder: str) -> list[dict[str, Any]]:
    lines = [one for one in spool.recent(folder, SPOOL_BYTES) if one.event.startswith("PostTool")]
    return [
        {
            "tool_name": line.tool,
            "exit_code": int(line.event == "PostToolUseFailure"),
            "duration_ms": line.duration_ms or None,
            "created_at": _written(line.ms),
        }
        for line in lines[-MOST_ACTIONS:]
    ]


def _written(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    except (OverflowError, ValueError, OSError):
        return ""
