"""What the sessions of a run share: options, journal and processes; its events and report."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from holdfast.run import claude_process
from holdfast.run.claude_process import ClaudeProcess
from holdfast.run.journal import Journal
from holdfast.run.journal_state import RunHistory


@dataclass(frozen=True, slots=True)
class RunEvent:
    """What a run reports while it goes on. `kind`: note, batch, begun, reading, session,
    checkpoint."""

    kind: str
    words: str
    number: int = 0
    count: int = 0
    session_id: str = ""
    titles: str = ""  # of the tasks, with `begun`
    used_tokens: int = 0
    planned_tokens: int = 0


Tell = Callable[[RunEvent], None]


@dataclass(frozen=True, slots=True)
class SessionResult:
    """How one session of a batch ended."""

    session_id: str
    tasks: tuple[str, ...]
    attempt: int
    result: str
    exit_code: int | None = None
    error: str = ""
    halt: str = ""  # for whom a task waits, or why the plan stops, in the words of the session
    used_tokens: int = 0
    grown_tokens: int = 0
    estimated_tokens: int = 0
    high_tokens: int = 0
    compactions: int = 0
    checkpoint: str = ""
    missing: tuple[str, ...] = ()  # files that its tasks name and that are not there though done


@dataclass(slots=True)
class RunReport:
    """The result of a run. `state`: done, nothing (all was done before), waiting (for a person,
    or because the plan says so), failed, interrupted, stopped (by any other error)."""

    plan: str
    folder: str
    state: str = "done"
    tasks: int = 0  # of the plan
    done_before: int = 0  # of these
    sessions: list[SessionResult] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # ids of tasks
    notes: list[str] = field(default_factory=list)
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"version": 1, **asdict(self)}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the user asked for; the same for every session."""

    root: Path
    client: str
    model: str = ""
    permission_mode: str = ""
    extra: tuple[str, ...] = ()
    max_parallel: int = 1
    timeout_seconds: float | None = None


@dataclass(slots=True)
class RunContext:
    options: RunOptions
    folder: str
    journal: Journal
    history: RunHistory
    lock: int
    tell: Tell
    clock: Callable[[], int]
    stopping: int = 0  # the signal that ends the run
    halted: bool = False  # a session failed twice: no further one is started
    running: list[ClaudeProcess] = field(default_factory=list)
    _starting: threading.Lock = field(default_factory=threading.Lock)

    def start(self, make: Callable[[], ClaudeProcess]) -> ClaudeProcess:
        """Start a process and register it at once: until then it would count as a stray."""
        with self._starting:
            made = make()
            self.running.append(made)
        return made

    def strays(self) -> list[int]:
        with self._starting:
            return claude_process.find_strays({one.pid for one in self.running})

    def stop(self, signal_number: int) -> None:
        """End the run. Called by a signal handler, so it takes no lock."""
        self.stopping = self.stopping or signal_number
        for one in list(self.running):
            one.end()

    def record(self, kind: str, **values: object) -> None:
        self.history.take(self.journal.add(kind, at_ms=self.clock(), **values))
