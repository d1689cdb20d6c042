"""The time a batch covers, and what its lines say of the session as a whole."""

from __future__ import annotations

from holdfast.work.deeds import Deed, ProjectMet, SessionMet
from holdfast.work.gathering.window import Window


class Span:
    """Grows as lines are read, from what earlier batches covered."""

    def __init__(self, first_ms: int = 0, last_ms: int = 0) -> None:
        self.first_ms, self.last_ms = first_ms, last_ms
        self.ended_ms = self.opened_ms = 0

    def add(self, ms: int) -> None:
        if ms > 0:
            self.first_ms = min(self.first_ms or ms, ms)
            self.last_ms = max(self.last_ms, ms)

    def deeds(self, window: Window) -> list[Deed]:
        """Who and where, said once per batch."""
        if not self.first_ms:
            return []
        times = {"first_ms": self.first_ms, "last_ms": self.last_ms}
        ended = {"ended_ms": self.ended_ms, "opened_ms": self.opened_ms}
        return [
            ProjectMet(id=window.project_id, path=window.project, **times),
            SessionMet(window.session_id, window.project_id, **times, **ended),
        ]
