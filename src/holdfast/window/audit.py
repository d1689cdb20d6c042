"""Every alert as an event for later review: append-only JSON lines, `CONTEXT_PRESSURE`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.wire import log, places


def path() -> Path:
    return Path(places.home(), "audit.jsonl")


def add(event: Mapping[str, Any]) -> None:
    """One write of one line; nothing is ever changed or removed. What cannot be written is said
    in the log, and stops nothing."""
    try:
        places.append(str(path()), (json.dumps(dict(event), ensure_ascii=True) + "\n").encode())
    except OSError as slip:
        log.add("ERROR", "audit", f"an event was not kept: {slip}")


def events() -> Iterator[dict[str, Any]]:
    """All events, oldest first; a torn line is passed over."""
    if not path().is_file():
        return
    with path().open("rb") as file:
        for line in file:
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event
