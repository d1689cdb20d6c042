"""The lines of the log, the older file's first."""

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
    """None for a line that is torn."""
    words = line.split(" ", 3)
    return LogLine(*words) if len(words) == 4 else None


def fits(line: LogLine, level: str | None, session: str) -> bool:
    """Of this level or a graver one, and of this session."""
    graver = log.LEVELS[log.LEVELS.index(level) :] if level else log.LEVELS
    return line.level in graver and line.place.startswith(session[:8])
