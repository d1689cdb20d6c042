"""Batches in order, with a checkpoint between each two: what a run executes, and what is shown.

A batch's `id` is made from its work, so it stays the same as long as the work does, wherever the
batch is in the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import PurePosixPath
from typing import Any

from holdfast.plan.commits import mentions_a_commit
from holdfast.plan.estimates.estimate import TaskEstimate
from holdfast.plan.files.groups import is_test
from holdfast.plan.files.patterns import MARKS, Pattern
from holdfast.plan.kinds import is_a_search, runs_something
from holdfast.plan.room import PlanRoom
from holdfast.plan.sizes import writes_documents
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask, digest
from holdfast.text.numbers import counted, span

CHECKPOINT = "Run /holdfast:checkpoint to save progress"


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """`fresh`: it starts in a new window. Its pieces are in an order in which they can be done."""

    pieces: tuple[TaskPiece, ...]
    room_tokens: int
    fresh: bool
    parallel: bool

    @property
    def id(self) -> str:
        return digest(sorted(piece.task.hash for piece in self.pieces))

    @property
    def tokens(self) -> int:
        return sum(piece.estimate.tokens for piece in self.pieces)

    @property
    def shown_tokens(self) -> int:
        """The sum of the numbers that are shown for its tasks, so that they add up."""
        return sum(piece.estimate.shown_tokens for piece in self.pieces)

    @property
    def is_unknown(self) -> bool:
        """Whether its first task is of unknown size, with at most a commit after it; its numbers
        are then those of the room."""
        return any(piece.estimate.is_unknown for piece in self.pieces)

    @property
    def in_words(self) -> tuple[str, str]:
        if self.is_unknown:
            return self.pieces[0].estimate.in_words
        return f"{self.shown_tokens:,}", span(self.low_tokens, self.high_tokens)

    @property
    def low_tokens(self) -> int:
        """Not the sum of all lows: it is rare that all tasks come out low at once."""
        below = ((one.estimate.tokens - one.estimate.low_tokens) ** 2 for one in self.pieces)
        return max(0, round(self.tokens - sqrt(sum(below))))

    @property
    def high_tokens(self) -> int:
        above = ((one.estimate.high_tokens - one.estimate.tokens) ** 2 for one in self.pieces)
        return round(self.tokens + sqrt(sum(above)))


@dataclass(frozen=True, slots=True)
class Workflow:
    title: str
    room: PlanRoom
    batches: tuple[TaskBatch, ...]
    done: tuple[str, ...] = ()  # ids of tasks that the plan marks as done
    warnings: tuple[str, ...] = ()
    past_requests: int = 0  # how many the estimates are based on

    @property
    def tokens(self) -> int:
        """The sum of all tasks of known size."""
        return sum(piece.estimate.tokens for piece in self._known)

    @property
    def shown_tokens(self) -> int:
        return sum(piece.estimate.shown_tokens for piece in self._known)

    @property
    def _known(self) -> list[TaskPiece]:
        pieces = (piece for batch in self.batches for piece in batch.pieces)
        return [piece for piece in pieces if not piece.estimate.is_unknown]

    @property
    def unknown(self) -> int:
        """How many tasks are of unknown size, or have a part that is. Parts of one count once."""
        pieces = (piece for batch in self.batches for piece in batch.pieces)
        return len({piece.task.spec for piece in pieces if piece.estimate.is_unknown})

    @property
    def size(self) -> str:
        """How large it is, in words that do not let the known part look like all of it."""
        tokens = f"about {self.shown_tokens:,} tokens"
        if not self.unknown:
            return tokens
        unknown = f"{counted(self.unknown, 'task')} of unknown size"
        return f"{unknown}, the rest {tokens}" if self._known else unknown


def fits_here(pieces: Sequence[TaskPiece], room: PlanRoom) -> bool:
    """Whether the pieces fit into the current session. Nothing of unknown size does; and if the
    session has less room than a fresh one, the upper end of their range must fit."""
    batch = TaskBatch(tuple(pieces), room.now_tokens, fresh=False, parallel=False)
    if not room.here or batch.is_unknown:
        return False
    upper = batch.tokens if room.now_tokens >= room.fresh_tokens else batch.high_tokens
    return upper <= room.now_tokens


def is_parallel(pieces: Sequence[TaskPiece]) -> bool:
    """Whether the pieces may run in parallel: each lists its files, none waits for another, no two
    share a file, and none has a folder with a file of another. Nor are tests or documents written
    beside the sources that they may be about, nor does a task look at or measure what another
    changes. A task that speaks of an order and names no task for it runs beside no other."""
    ids = {piece.task.id for piece in pieces}
    if len(pieces) < 2 or any(ids.intersection(piece.task.depends) for piece in pieces):
        return False
    if not all(_names(piece.task) for piece in pieces):  # it may change any file
        return False
    if any(_speaks_of_order(piece.of or piece.task) for piece in pieces):
        return False
    if len({_lists_only_tests(piece.task) for piece in pieces}) > 1:  # possibly of the others
        return False
    if len({writes_documents(piece.task) for piece in pieces}) > 1:
        return False
    if len({is_a_search(piece.task.title) for piece in pieces}) > 1:
        return False
    if any(mentions_a_commit(piece.task.words) for piece in pieces):  # of what others change, too
        return False
    if any(runs_something(piece.task.title) for piece in pieces):  # others disturb what it measures
        return False
    files: set[str] = set()
    folders: set[str] = set()
    patterns: list[Pattern] = []
    for piece in pieces:
        own = _names(piece.task) | (_names(piece.of) if piece.of else set())
        above = {str(folder) for file in own for folder in PurePosixPath(file).parents}
        stands_for = [Pattern(name) for name in own if MARKS.intersection(name)]
        if own & files or own & folders or above & files:
            return False
        if _any_fits(patterns, own) or _any_fits(stands_for, files):
            return False
        files |= own
        folders |= above
        patterns += stands_for
    return True


def _speaks_of_order(task: PlanTask) -> bool:
    """Whether a task says something of an order, and no task was found that it means."""
    return bool(task.unread) or task.is_ordered


def _lists_only_tests(task: PlanTask) -> bool:
    return bool(task.files) and all(map(is_test, task.files))


def _names(task: PlanTask) -> set[str]:
    """Its files, those of its steps, and the folders it names, in which new files may be made."""
    written = task.written.files if task.written else ()
    steps = (name for step in task.subtasks if not step.done for name in _names(step))
    return {*task.files, *written, *steps}


def _any_fits(patterns: Sequence[Pattern], names: Iterable[str]) -> bool:
    return bool(patterns) and any(one.fits(name) for name in names for one in patterns)


def as_json(workflow: Workflow) -> dict[str, Any]:
    """The workflow as plain values for JSON."""
    room = workflow.room
    return {
        "version": 1,
        "title": workflow.title,
        "room": {
            "now_tokens": room.now_tokens,
            "fresh_tokens": room.fresh_tokens,
            "window_tokens": room.window_tokens,
            "most_specs": room.specs,
            "basis": room.basis,
            "here": room.here,
        },
        "estimated_tokens": workflow.tokens,
        "unknown_tasks": workflow.unknown,
        "past_requests": workflow.past_requests,
        "nodes": _nodes(workflow.batches),
        "edges": _edges(len(workflow.batches)),
        "done": list(workflow.done),
        "warnings": list(workflow.warnings),
    }


def _nodes(batches: Sequence[TaskBatch]) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for at, batch in enumerate(batches):
        if at:
            nodes[f"checkpoint_{at - 1}"] = {"type": "single", "prompt": CHECKPOINT}
        nodes[f"batch_{at}"] = {
            "type": "parallel" if batch.parallel else "single",
            "id": batch.id,
            "fresh": batch.fresh,
            "room_tokens": batch.room_tokens,
            **_range(batch),
            "tasks": [_task(piece) for piece in batch.pieces],
        }
    return nodes


def _edges(count: int) -> list[dict[str, str]]:
    edges = []
    for at in range(count - 1):
        edges.append({"from": f"batch_{at}", "to": f"checkpoint_{at}"})
        edges.append({"from": f"checkpoint_{at}", "to": f"batch_{at + 1}"})
    return edges


def _task(piece: TaskPiece) -> dict[str, Any]:
    task, size = piece.task, piece.estimate
    return {
        "id": task.id,
        "hash": task.hash,
        "spec": task.spec,
        "title": task.title,
        "section": task.section or None,
        "part": task.part or None,
        "description": task.description,
        "files": list(task.files),
        "named_files": list(size.named_files),
        "depends": list(task.depends),
        "subtasks": [step.title for step in task.subtasks if not step.done],
        **_range(size),
        "basis": size.basis,
        "cut": piece.cut or None,
        "warning": piece.warning or None,
    }


def _range(of: TaskBatch | TaskEstimate) -> dict[str, int | None]:
    """The estimate and its range; all None if the size is unknown."""
    low, high = of.low_tokens, of.high_tokens
    found = {"estimated_tokens": of.tokens, "low_tokens": low, "high_tokens": high}
    return dict.fromkeys(found) if of.is_unknown else {**found}
