"""May a turn end now? Not while subtasks run, an error is open, or much work is unsaved. The guard
objects once. Values in, a verdict out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

UNSAVED = 0.20  # share of the edge used since the last checkpoint
MOST_NAMED = 3
# The last message of a turn is its result, also that of `claude -p`: a model that is only told to
# stop again ends with "Nothing left to do."
ANYWAY = (
    "If your answer already covers this, repeat its conclusion in a line or two and stop again. "
    "Holdfast asks only once; the user did not ask this."
)


class StopFacts(NamedTuple):
    """What speaks against an end, as far as known."""

    running: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unsaved_ratio: float = 0.0
    forced: bool = False
    estimated: bool = False  # the reading behind `unsaved_ratio`
    has_checkpoint: bool = False

    @property
    def unsaved(self) -> bool:
        return self.unsaved_ratio > UNSAVED


def judge(standing: StopFacts, command: str) -> str:
    """Why the turn should not end yet; empty if it may. `command` runs Holdfast in any shell."""
    if standing.forced:
        return ""
    reasons = []
    if standing.running:
        reasons.append(_running(standing.running))
    if standing.errors:
        reasons.append(_failed(standing.errors))
    if standing.unsaved:
        reasons.append(f"{_unsaved(standing)}: run `{command} checkpoint` to save one.")
    return f"Holdfast: {' '.join([*reasons, ANYWAY])}" if reasons else ""


def _unsaved(standing: StopFacts) -> str:
    about = "About " if standing.estimated else ""
    share = f"{about}{standing.unsaved_ratio:.0%} of the compaction limit"
    if standing.has_checkpoint:
        return f"{share} was used since the last checkpoint"
    return f"{share} is used, and this session has no checkpoint yet"


def _running(names: Sequence[str]) -> str:
    if len(names) == 1:
        asked = "wait for it if your answer needs its result, otherwise say that it still runs."
        return f"1 subtask is still running ({names[0]}): {asked}"
    asked = "wait for them if your answer needs their results, otherwise say that they still run."
    return f"{len(names)} subtasks are still running ({_name_some(names)}): {asked}"


def _failed(names: Sequence[str]) -> str:
    if len(names) == 1:
        asked = "fix it if it belongs to the task, otherwise say that it fails."
        return f"{names[0]} failed and has not succeeded since: {asked}"
    asked = "fix what belongs to the task, and say what still fails."
    return f"{_name_some(names)} failed and have not succeeded since: {asked}"


def _name_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def unsaved_ratio(used_tokens: int, saved_tokens: int, edge_tokens: int) -> float:
    """`saved_tokens`: how full it was at the last checkpoint, or when it was last freed since."""
    if edge_tokens <= 0:
        return 0.0
    return max(0, used_tokens - min(saved_tokens, used_tokens)) / edge_tokens
