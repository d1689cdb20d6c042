"""How long a session has worked since its last checkpoint, where no hook leaves lines: the times
at which its transcript was seen to grow, pauses left out."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.window.monitor import IDLE_MS


@dataclass(slots=True)
class _Seen:
    checkpoint_ms: int
    last_ms: int
    active_ms: int = 0


class ActiveTime:
    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def note(self, path: str, checkpoint_ms: int, changed_ms: int) -> int:
        """The work seen so far; a new checkpoint starts it anew, a jump of the clock adds none."""
        seen = self._seen.get(path)
        if seen is None or seen.checkpoint_ms != checkpoint_ms:
            seen = self._seen[path] = _Seen(checkpoint_ms, changed_ms)
        gap = changed_ms - seen.last_ms
        if 0 < gap <= IDLE_MS:
            seen.active_ms += gap
        seen.last_ms = changed_ms
        return seen.active_ms

    def forget(self, paths: set[str]) -> None:
        """All but these."""
        self._seen = {path: seen for path, seen in self._seen.items() if path in paths}
