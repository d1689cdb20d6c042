"""The shared work of a session in one small file beside its window.

It begins with the number of the session's running subtasks, so that a hook at the end of a turn
reads 128 bytes and no JSON (`wire.places.runs_subtasks`).

Processes with a database write it from the store (`refresh`); hooks, which open no database, read
it. It is an index: if it is missing, broken or old, a hook continues without it.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.wire import places

VERSION = 1
NAME = "work.json"
MOST_BYTES = 256 << 10
STALE_MS = 10 * 60_000
SHRINKING = ("recent_actions", "recent_messages", "open_elsewhere", "agent_states")


def read_projection(folder: str) -> dict[str, Any]:
    """Read the projection of the window's session; empty if it cannot be read."""
    main = f"{os.path.dirname(folder.rstrip('/'))}/main"
    data = places.read_small(f"{main}/{NAME}", MOST_BYTES + 1)
    try:
        found: Any = msgspec.json.decode(data) if 0 < len(data) <= MOST_BYTES else {}
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("version") != VERSION:
        return {}
    return found if type(found.get("at_ms")) is int else {}


def is_fresh(found: Mapping[str, Any], now_ms: int) -> bool:
    return bool(found) and abs(now_ms - found["at_ms"]) <= STALE_MS


def objects_in(found: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a list in the projection; anything else in it is left out."""
    value = found.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def subtasks(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return this session's subtasks of the current request, and open ones of earlier ones."""
    tree = found.get("hierarchy")
    if not isinstance(tree, dict):
        return []
    tasks = [
        task for request in objects_in(tree, "requests") for task in objects_in(request, "tasks")
    ]
    parts = [part for task in tasks for part in objects_in(task, "subtasks")]
    return [*parts, *objects_in(tree, "earlier_subtasks")]


def running(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [part for part in subtasks(found) if part.get("status") == "running"]


def write(folder: str, found: Mapping[str, Any]) -> None:
    """Replace the file. The longest lists are halved until it is small enough."""
    whole = {"running_subtasks": len(running(found)), **found}
    places.replace_whole(f"{folder}/{NAME}", _encode_bounded(whole))


def _encode_bounded(found: dict[str, Any]) -> bytes:
    while len(data := json.dumps(found, ensure_ascii=True).encode()) > MOST_BYTES:
        longest = max(SHRINKING, key=lambda name: len(json.dumps(found.get(name, []))))
        rows = found.get(longest) or []
        if not rows:
            kept = ("running_subtasks", "version", "at_ms", "session_id")
            found = {name: found[name] for name in kept}
        else:
            found[longest] = rows[(len(rows) + 1) // 2 :]  # the newest are last
    return data
