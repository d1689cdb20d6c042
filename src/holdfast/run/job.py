"""The work of one session: pieces of the plan, and which of them it says it did."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask
from holdfast.run.exit_note import Note
from holdfast.run.journal_state import Share
from holdfast.text.numbers import named


@dataclass(frozen=True, slots=True)
class Job:
    """`limit_tokens`: what of a window a batch may take; `beside`: others of its batch run too."""

    batch: str
    pieces: tuple[TaskPiece, ...]
    shares: tuple[Share, ...]
    number: int
    count: int
    high_tokens: int
    limit_tokens: int
    beside: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(piece.task.id for piece in self.pieces)

    @property
    def titles(self) -> str:
        """For people."""
        return ", ".join(named(piece.task.shown) for piece in self.pieces)

    def without(self, positions: Collection[int]) -> Job:
        kept = [at for at in range(len(self.pieces)) if at not in positions]
        pieces, shares = self.pieces, self.shares
        return replace(
            self,
            pieces=tuple(pieces[at] for at in kept),
            shares=tuple(shares[at] for at in kept),
        )

    @property
    def is_unknown(self) -> bool:
        return any(piece.estimate.is_unknown for piece in self.pieces)

    @property
    def tokens(self) -> int:
        """Of a task of unknown size, all the room it was given."""
        return sum(piece.estimate.tokens for piece in self.pieces)


def credited_of(pieces: Sequence[TaskPiece], note: Note, not_done: Sequence[str]) -> list[int]:
    """Which tasks a session did that names others as not done. Where it names something that is
    none of its tasks, nobody knows."""
    if not not_done or not note.is_success or len(not_done) != note.not_done:
        return []
    meant = [
        {at for at, piece in enumerate(pieces) if _is_named(words, piece.task)}
        for words in not_done
    ]
    undone = set[int]().union(*meant)
    return [at for at in range(len(pieces)) if at not in undone] if all(meant) else []


def _is_named(words: str, task: PlanTask) -> bool:
    """By its id or its title, whatever follows; rather one too many than one too few."""
    said = words.casefold()
    return any(
        said.startswith(name) and not said[len(name) : len(name) + 1].isalnum()
        for name in (task.id.casefold(), task.title.casefold())
    )
