"""Every alert as an event for later review: append-only JSON lines, `CONTEXT_PRESSURE`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.wire import places


def path() -> Path:
    return Path(places.home(), "audit.jsonl")


def add(event: Mapping[str, Any]) -> None:
    """One write of one line; nothing is ever changed or removed."""
    target = path()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, (json.dumps(dict(event), ensure_ascii=True) + "\n").encode())
    finally:
        os.close(fd)


def events() -> Iterator[dict[str, Any]]:
    """All events, oldest first; a torn line is passed over."""
    if not path().is_file():
        return
    with path().open("rb") as file:
        for line in file:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event
