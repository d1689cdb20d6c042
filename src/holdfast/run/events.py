"""What a run says while it goes on, and what it comes to in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """`kind`: note, batch, begun, reading, session, checkpoint. Numbers where there are any."""

    kind: str
    words: str
    number: int = 0
    count: int = 0
    session_id: str = ""
    titles: str = ""  # of the tasks, with `begun`
    used_tokens: int = 0
    planned_tokens: int = 0


Tell = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Played:
    """One session of a batch, as it ended."""

    session_id: str
    tasks: tuple[str, ...]
    attempt: int
    result: str
    exit_code: int | None = None
    error: str = ""
    used_tokens: int = 0
    grown_tokens: int = 0
    estimated_tokens: int = 0
    high_tokens: int = 0
    compactions: int = 0
    checkpoint: str = ""


@dataclass(slots=True)
class Report:
    """`state`: done, nothing (all was done before), failed, interrupted, stopped (by any other
    error)."""

    plan: str
    folder: str
    state: str = "done"
    tasks: int = 0  # of the plan
    done_before: int = 0  # of these
    sessions: list[Played] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # ids of tasks
    notes: list[str] = field(default_factory=list)
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"version": 1, **asdict(self)}
