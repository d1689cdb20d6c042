"""The statuses of work, and how a new status changes the times of a row."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from holdfast.hub.store.rows import Row

RequestStatus: TypeAlias = Literal[
    "active", "pending", "running", "paused", "blocked", "completed", "failed", "cancelled"
]
WorkStatus: TypeAlias = Literal["pending", "running", "paused", "blocked", "completed", "failed"]
ENDED = frozenset(("completed", "failed", "cancelled"))
UNDER_WAY = frozenset(("running", "paused", "blocked"))
OPEN = UNDER_WAY | {"pending"}


def times_after(status: str, now_ms: int, before: Row | None = None) -> Row:
    """Return the start time, which stays once it is known, and the end time, which is None again
    once work resumes."""
    before = before or {}
    began, ended = before.get("started_ms"), before.get("completed_ms")
    if status == "running" and began is None:
        began = now_ms
    if status not in ENDED:
        ended = None
    elif status != before.get("status") or ended is None:
        ended = now_ms
    return {"status": status, "started_ms": began, "completed_ms": ended}


def end_time(status: str, now_ms: int, before: Row | None = None) -> Row:
    """As `times`, for a row without a start time."""
    known = times_after(status, now_ms, before)
    return {"status": status, "completed_ms": known["completed_ms"]}


def derive_status(task: str, below: Collection[str], *, taken_up: bool = False) -> str:
    """Return the status of a task from the statuses of its subtasks: ended once all of them are
    (completed if every one is, else failed), blocked while all that are left are blocked,
    running once one has started. `taken_up`: a subtask was just started, so an ended task
    resumes."""
    left = set(below) - ENDED
    if below and not left:
        return "completed" if set(below) == {"completed"} else "failed"
    if task == "paused" or (task in ENDED and not taken_up):
        return task
    if left == {"blocked"}:
        return "blocked"
    if task == "blocked":
        return "running" if "running" in left else task
    begun = left & (UNDER_WAY - {"blocked"}) or left != set(below) or task in ENDED
    return "running" if begun else task
