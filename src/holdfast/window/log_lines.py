"""Read the lines of the log, the older file first."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from holdfast.wire import log


class LogLine(NamedTuple):
    at: str
    level: str
    place: str
    message: str


def lines() -> list[str]:
    path = Path(log.path())
    found: list[str] = []
    for part in (path.with_name(path.name + ".1"), path):
        if part.is_file():
            found += part.read_text(encoding="utf-8", errors="replace").splitlines()
    return found


def read(line: str) -> LogLine | None:
    """Split a line; None if it is torn."""
    words = line.split(" ", 3)
    return LogLine(*words) if len(words) == 4 else None


def fits(line: LogLine, level: str | None, session: str) -> bool:
    """Whether the line has this level or a more severe one, and belongs to this session."""
    graver = log.LEVELS[log.LEVELS.index(level) :] if level else log.LEVELS
    return line.level in graver and line.place.startswith(session[:8])
