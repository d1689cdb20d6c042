"""The lines of the log, alerts as events for later review, and decisions under pressure.

Events are append-only JSON lines, `CONTEXT_PRESSURE`. At 4 MB, about 8,000 events, the file is
moved aside; one older file is kept.

A window is under pressure from an alert in the orange or red zone until an alert in a lower zone,
or until a compaction frees the window.
"""

import json
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from holdfast.wire import log, places
from holdfast.wire.scan import parse_object

ROTATE_BYTES = 4 << 20
PRESSURE, FREED = "CONTEXT_PRESSURE", "CONTEXT_FREED"
ZONES = frozenset(("orange", "red"))


def path() -> Path:
    return Path(places.home(), "audit.jsonl")


def add(event: Mapping[str, Any]) -> None:
    """Append one line with one write; a failure is logged and stops nothing."""
    try:
        line = (json.dumps(dict(event), ensure_ascii=True) + "\n").encode()
        if places.append(str(path()), line) > ROTATE_BYTES:
            places.move_aside(str(path()), ROTATE_BYTES)
    except OSError as error:
        log.add("ERROR", "audit", f"an event was not kept: {error}")


def events() -> Iterator[dict[str, Any]]:
    """Return all events, oldest first; a torn line is skipped."""
    newer = _open(path())  # first: should it be moved aside now, it is read twice, never missed
    older = _open(Path(f"{path()}.1"))
    if older and newer and os.path.sameopenfile(older.fileno(), newer.fileno()):
        newer.close()
        newer = None
    for file in filter(None, (older, newer)):
        with file:
            yield from filter(None, map(parse_object, file))


def _open(place: Path) -> BinaryIO | None:
    return place.open("rb") if place.is_file() else None


def under_pressure(
    decisions: Iterable[tuple[int, Mapping[str, Any]]], events: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return one window's (time, decision) pairs under pressure by its events; oldest first."""
    timed = (event for event in events if type(event.get("at_ms")) is int)
    alerts = sorted(timed, key=lambda event: event["at_ms"])
    times = [event["at_ms"] for event in alerts]
    found = []
    for at_ms, decision in sorted(decisions, key=lambda one: (one[0], one[1].get("turn") or 0)):
        place = bisect_right(times, at_ms)
        last = alerts[place - 1] if place else {}
        if last.get("event") == PRESSURE and last.get("zone") in ZONES:
            facts = {name: last.get(name) for name in ("zone", "level", "used_ratio")}
            found.append({"at_ms": at_ms, **decision, **facts})
    return found


class LogLine(NamedTuple):
    at: str
    level: str
    place: str
    message: str

    def fits(self, level: str | None, session: str = "") -> bool:
        """Whether it has this level or a more severe one, and belongs to this session."""
        graver = log.LEVELS[log.LEVELS.index(level) :] if level else log.LEVELS
        return self.level in graver and self.place.startswith(session[:8])


def log_lines() -> Iterator[LogLine]:
    """The complete lines of the log, the older file first."""
    for name in (f"{log.path()}.1", log.path()):
        if Path(name).is_file():
            text = Path(name).read_text(encoding="utf-8", errors="replace")
            whole = text.rpartition("\n")[0]
            yield from filter(None, map(parse_log_line, whole.splitlines()))


def parse_log_line(line: str) -> LogLine | None:
    words = line.split(" ", 3)
    return LogLine(*words) if len(words) == 4 else None
