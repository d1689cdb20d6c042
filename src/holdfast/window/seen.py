"""Compactions that really happened on this machine: they win over any table of models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from holdfast.client.switches import Switches
from holdfast.wire import log, places

VERSION = 1
MOST = 400


@dataclass(frozen=True, slots=True)
class Seen:
    """One automatic compaction: `mark` is the boundary line's id, so it counts once."""

    key: str
    pre_tokens: int
    mark: str


def key(model: str, client_version: str, switches: Switches) -> str:
    """What must be the same for one compaction to tell about the next."""
    turned = json.dumps(switches.as_json(), sort_keys=True)
    return f"{model}|{client_version}|{turned}"


def path() -> Path:
    return Path(places.home(), "seen.json")


def load() -> list[Seen]:
    data = places.read_small(str(path()), 1 << 20)
    if not data:
        return []
    try:
        value = json.loads(data)
        rows = value["seen"] if value["version"] == VERSION else []
        return [Seen(str(k), int(n), str(m)) for k, n, m in rows][-MOST:]
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as slip:
        log.add("WARN", "seen", f"{path()} was not read: {slip!r}")
        return []


def pre_tokens(wanted: str, rows: list[Seen] | None = None) -> list[int]:
    return [row.pre_tokens for row in (load() if rows is None else rows) if row.key == wanted]


def add(new: list[Seen]) -> None:
    """Keep what is not kept yet; two writers at once may lose one, and the next hook adds it."""
    rows = load()
    marks = {row.mark for row in rows}
    fresh = [row for row in new if row.mark not in marks]
    if not fresh:
        return
    kept = [[row.key, row.pre_tokens, row.mark] for row in [*rows, *fresh][-MOST:]]
    places.replace_whole(
        str(path()), json.dumps({"version": VERSION, "seen": kept}).encode("utf-8", "replace")
    )
