"""May a turn end now? Not while subtasks run, an error is open, or much work is unsaved. The guard
objects once. Values in, a verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.wire.spool import SpoolLine

UNSAVED = 0.20  # share of the edge used since the last checkpoint
OPERATIONS = 10
LIVE_MS = 6 * 3_600_000  # an agent that never reported its end is not waited for any longer
MOST_NAMED = 3
ANYWAY = "If there is nothing left to do, say so and stop again: this check speaks once."


@dataclass(frozen=True, slots=True)
class StopFacts:
    """What speaks against an end, as far as known."""

    running: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unsaved_ratio: float = 0.0
    forced: bool = False
    estimated: bool = False  # the reading behind `unsaved_ratio`

    @property
    def unsaved(self) -> bool:
        return self.unsaved_ratio > UNSAVED


def judge(standing: StopFacts) -> str:
    """Why the turn should not end yet; empty if it may."""
    if standing.forced:
        return ""
    reasons = []
    if standing.running:
        n = len(standing.running)
        still = "1 subtask still runs" if n == 1 else f"{n} subtasks still run"
        them = "it" if n == 1 else "them"
        reasons.append(f"{still} ({_some(standing.running)}): wait for {them}, or end {them}")
    if standing.errors:
        reasons.append(f"unresolved: {_some(standing.errors)}: fix it, or say why not")
    if standing.unsaved:
        about = "about " if standing.estimated else ""
        used = f"{about}{standing.unsaved_ratio:.0%} of the compaction limit was used"
        reasons.append(f"{used} since the last checkpoint: `holdfast checkpoint` saves it")
    return f"Holdfast: {'; '.join(reasons)}. {ANYWAY}" if reasons else ""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def running_agents(lines: Iterable[SpoolLine], now_ms: int) -> dict[str, str]:
    """Agents that started and have not stopped, by id, with their type.

    A restarted session has none: they ended with their process.
    """
    found: dict[str, SpoolLine] = {}
    for line in lines:
        if line.event == "SubagentStart":
            found[line.tool_use_id] = line
        elif line.event == "SubagentStop":
            found.pop(line.tool_use_id, None)
        elif line.event == "SessionStart" and not line.flags.startswith("compacting"):
            found.clear()
    return {one: line.tool for one, line in found.items() if now_ms - line.ms < LIVE_MS}


def failed_tools(lines: Sequence[SpoolLine]) -> list[str]:
    """Tools whose last call failed, among the last ten operations."""
    answers = dict.fromkeys(line.answer_id for line in lines if line.tool_use_id and line.answer_id)
    recent = set(list(answers)[-OPERATIONS:])
    last: dict[str, str] = {}
    for line in lines:
        if line.event.startswith("PostToolUse") and line.answer_id in recent:
            last[line.tool] = line.event
    return [tool for tool, event in last.items() if event == "PostToolUseFailure"]


def unsaved_ratio(used_tokens: int, saved_tokens: int, edge_tokens: int) -> float:
    """`saved_tokens`: how full it was at the last checkpoint, or when it was last freed since."""
    if edge_tokens <= 0:
        return 0.0
    return max(0, used_tokens - min(saved_tokens, used_tokens)) / edge_tokens
