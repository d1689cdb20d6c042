"""Have sessions on this machine left anything new? Asked every second, so it must cost little."""

from __future__ import annotations

import os
import time
from pathlib import Path

from holdfast.wire import places

ALL_SECONDS = 10.0
RECENT_SECONDS = 600.0
AFTER_SECONDS = 3.0  # a transcript is written a moment after the line that tells of it


class Spools:
    """Looks at every window now and then, and at those in use each time."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._sessions_ns = -1
        self._all_at = 0.0
        self._moved_at = time.monotonic()  # what was left while nobody looked

    def moved(self) -> bool:
        now = time.monotonic()
        if self._look(self._to_look_at(now)):
            self._moved_at = now
        return now - self._moved_at <= AFTER_SECONDS

    def _to_look_at(self, now: float) -> list[str]:
        """All of them, where a session is new or the last such look was long ago."""
        sessions_ns = _written_ns(places.windows())
        if sessions_ns != self._sessions_ns or now - self._all_at >= ALL_SECONDS:
            self._sessions_ns, self._all_at = sessions_ns, now
            return _all()
        recent = (time.time() - RECENT_SECONDS) * 1e9
        return [path for path, written in self._seen.items() if written > recent]

    def _look(self, paths: list[str]) -> bool:
        now = {path: _written_ns(path) for path in paths}
        moved = any(self._seen.get(path) != written for path, written in now.items())
        self._seen |= now
        return moved


def _all() -> list[str]:
    """The spool of every window; where no hook writes one, the notes of the watcher."""
    windows = Path(places.windows())
    spools = {one.parent: one for one in windows.glob("*/*/spool")}
    noted = {one.parent: one for one in windows.glob("*/*/state.json")}
    return [str(one) for one in (noted | spools).values()]


def _written_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 (a thousand of them a second)
    except OSError:
        return 0
