"""Every alert as an event for later review: append-only JSON lines, `CONTEXT_PRESSURE`.

At 4 MB, some 8,000 events, the file is moved aside; one older file is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from holdfast.wire import log, places

ROTATE_BYTES = 4 << 20


def path() -> Path:
    return Path(places.home(), "audit.jsonl")


def add(event: Mapping[str, Any]) -> None:
    """One write of one line; no line is ever changed. What cannot be written is said in the log,
    and stops nothing."""
    try:
        line = (json.dumps(dict(event), ensure_ascii=True) + "\n").encode()
        if places.append(str(path()), line) > ROTATE_BYTES:
            places.move_aside(str(path()), ROTATE_BYTES)
    except OSError as slip:
        log.add("ERROR", "audit", f"an event was not kept: {slip}")


def events() -> Iterator[dict[str, Any]]:
    """All events, oldest first; a torn line is passed over."""
    newer = _opened(path())  # first: should it be moved aside now, it is read twice, never missed
    older = _opened(Path(f"{path()}.1"))
    if older and newer and os.path.sameopenfile(older.fileno(), newer.fileno()):
        newer.close()
        newer = None
    for file in filter(None, (older, newer)):
        with file:
            yield from filter(None, map(_event, file))


def _opened(place: Path) -> BinaryIO | None:
    return place.open("rb") if place.is_file() else None


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None
