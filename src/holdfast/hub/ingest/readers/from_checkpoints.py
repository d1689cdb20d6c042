"""Checkpoints as deeds, from their snapshots: a folder of them per project, read when it changed.

A checkpoint told twice is one row, so a folder is simply told again from its first name on.
"""

from __future__ import annotations

import json
import os
from typing import Any

from holdfast.files import folders
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import clean, clean_value, whole
from holdfast.hub.ingest.records import (
    MOST_CHARS,
    NAME_CHARS,
    PATH_CHARS,
    TEXT_CHARS,
    CheckpointTaken,
    Deed,
    Position,
)
from holdfast.wire import places

LARGEST_BYTES = 2 << 20
MOST_AT_ONCE = 200


def projects() -> list[str]:
    """The projects that have any, as their folders are called."""
    found = folders.names_in(folders.root())
    return sorted(key for key in found if "." not in key and key != "lock")


def read_on(key: str, told: Position) -> tuple[Position, list[Deed]]:
    folder = f"{folders.root()}/{key}"
    stamp = _stamp(folder)
    same = told.get("stamp") == stamp
    if same and not told.get("after"):
        return told, []
    after = str(told.get("after", "")) if same else ""
    deeds: list[Deed] = []
    read_bytes = 0
    for name in sorted(folders.names_in(folder)):
        if not name.endswith(".json") or name <= after:
            continue
        if len(deeds) >= MOST_AT_ONCE or read_bytes > MOST_CHARS:
            return {"stamp": stamp, "after": after}, deeds
        after, data = name, places.read_small(f"{folder}/{name}", LARGEST_BYTES + 1)
        read_bytes += len(data)
        deed = _deed(data)
        deeds += [deed] if deed else []
    return {"stamp": stamp}, deeds


def _stamp(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns // 1000  # noqa: PTH116 (JSON's numbers end at 2**53)
    except OSError:
        return 0


def _deed(data: bytes) -> Deed | None:
    found = _snapshot(data)
    at_ms = row_times.read(_text(found, "timestamp"))
    checkpoint_id, session_id = _text(found, "checkpoint_id"), _text(found, "session_id")
    project = whole(_text(found, "project"))[:PATH_CHARS].rstrip("/") or "/"
    if not at_ms or not 0 < at_ms < 1 << 53 or not checkpoint_id or not session_id:
        return None
    return CheckpointTaken(
        id=ids.checkpoint_row_id(project, checkpoint_id),
        checkpoint_id=whole(checkpoint_id)[:NAME_CHARS],
        session_id=whole(session_id)[:NAME_CHARS],
        project_id=ids.project_id(project),
        path=project,
        at_ms=at_ms,
        summary=clean(_text(found, "context_summary"), TEXT_CHARS),
        snapshot=clean_value(found, TEXT_CHARS),
    )


def _snapshot(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data) if len(data) <= LARGEST_BYTES else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""
