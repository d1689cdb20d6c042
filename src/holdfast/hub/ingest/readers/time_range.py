"""The time a batch covers, and what its lines say of the session as a whole."""

from __future__ import annotations

from holdfast.hub.ingest.readers.window import WindowReader
from holdfast.hub.ingest.records import Deed, ProjectMet, SessionMet


class Span:
    """Grows as lines are read, from what earlier batches covered."""

    def __init__(self, first_ms: int = 0, last_ms: int = 0) -> None:
        self.first_ms, self.last_ms = first_ms, last_ms
        self._turns = [(0, 0)]  # each end of the session, and when it last went on after that

    def add(self, ms: int) -> None:
        if ms > 0:
            self.first_ms = min(self.first_ms or ms, ms)
            self.last_ms = max(self.last_ms, ms)

    def end(self, ms: int) -> None:
        self._turns.append((ms, 0))

    def open(self, ms: int) -> None:
        ended_ms, opened_ms = self._turns[-1]
        self._turns[-1] = ended_ms, max(opened_ms, ms)

    @property
    def has_turned(self) -> bool:
        return self._turns != [(0, 0)]

    def deeds(self, window: WindowReader) -> list[Deed]:
        """Who and where, said once per batch; each end and what followed it, in their order: taken
        one after the other they give the same wherever a batch is cut."""
        if not self.first_ms:
            return []
        times = {"first_ms": self.first_ms, "last_ms": self.last_ms}
        met = ProjectMet(id=window.project_id, path=window.project, **times)
        turns = [turn for turn in self._turns if any(turn)] or [(0, 0)]
        named = [{**times, "ended_ms": ended, "opened_ms": opened} for ended, opened in turns]
        return [met, *(SessionMet(window.session_id, window.project_id, **one) for one in named)]
