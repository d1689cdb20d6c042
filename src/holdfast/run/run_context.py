"""Where sessions run: what the user asked of all of them, what they share, when they must end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.run import orphans
from holdfast.run.child_process import Child
from holdfast.run.events import Tell
from holdfast.run.journal import Journal
from holdfast.run.journal_state import Account


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for, for every session alike."""

    root: Path
    client: str
    model: str = ""
    permission_mode: str = ""
    extra: tuple[str, ...] = ()
    max_parallel: int = 1
    timeout_seconds: float | None = None


@dataclass(slots=True)
class Floor:
    wishes: Wishes
    folder: str
    journal: Journal
    account: Account
    lock: int
    tell: Tell
    clock: Callable[[], int]
    stopping: int = 0  # the signal that asked for it
    halted: bool = False  # a session failed twice: no further one is started
    running: list[Child] = field(default_factory=list)
    _starting: threading.Lock = field(default_factory=threading.Lock)

    def start(self, make: Callable[[], Child]) -> Child:
        """Between its start and our knowing of it nobody looks for strays: it would be one."""
        with self._starting:
            made = make()
            self.running.append(made)
        return made

    def strays(self) -> list[int]:
        with self._starting:
            return orphans.strays({one.pid for one in self.running})

    def stop(self, signal_number: int) -> None:
        """Called by a signal handler: only what needs no lock."""
        self.stopping = self.stopping or signal_number
        for one in list(self.running):
            one.end()

    def note(self, kind: str, **values: object) -> None:
        self.account.take(self.journal.add(kind, at_ms=self.clock(), **values))
