"""Waves, judged: from how the tasks of a session stand to how each of its waves stands.

A wave is over when all its tasks are: completed if every one was, else failed. It is blocked while
all tasks that are left in it are. The one after a completed row of waves starts by itself; the
first, and one behind a failure, wait for somebody to begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Tally: TypeAlias = Mapping[str, int]  # how many tasks have which status
SETTLED = frozenset(("completed", "failed"))


@dataclass(frozen=True, slots=True)
class WaveState:
    number: int
    status: str
    started_ms: int | None = None
    completed_ms: int | None = None


def judge(tallies: Mapping[int, Tally]) -> dict[int, str]:
    """The status of each wave, by its number."""
    verdict: dict[int, str] = {}
    for number in sorted(tallies):
        in_line = bool(verdict) and all(status == "completed" for status in verdict.values())
        verdict[number] = _status(tallies[number], in_line)
    return verdict


def moves(
    kept: Mapping[int, WaveState], verdict: Mapping[int, str], now_ms: int
) -> list[WaveState]:
    """Waves that stand differently than was known, with their new times; lowest first."""
    return [
        _moved(kept.get(number), number, verdict[number], now_ms)
        for number in sorted(verdict)
        if number not in kept or kept[number].status != verdict[number]
    ]


def spanning(number: int, status: str, span: tuple[int, int]) -> WaveState:
    """A wave with the times of its tasks."""
    if status in ("pending", "blocked"):
        return WaveState(number, status)
    return WaveState(number, status, span[0], span[1] if status in SETTLED else None)


def _status(tally: Tally, in_line: bool) -> str:
    left = {status for status, n in tally.items() if n}
    if left <= {"completed"}:
        return "completed"
    if left <= SETTLED:
        return "failed"
    if left - SETTLED == {"blocked"}:
        return "blocked"
    return "running" if in_line or left & {"running", *SETTLED} else "pending"


def _moved(before: WaveState | None, number: int, status: str, now_ms: int) -> WaveState:
    began = before.started_ms if before else None
    if status == "pending":
        return WaveState(number, status)
    if status == "blocked":
        return WaveState(number, status, began)
    return WaveState(
        number,
        status,
        now_ms if began is None else began,
        now_ms if status in SETTLED else None,
    )
