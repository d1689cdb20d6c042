"""Batches in order, with a checkpoint between each two: what a run executes, and what is shown.

A batch's `id` is made from its work, so it stays the same as long as the work does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from holdfast.plan.estimate import TaskEstimate
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import PlanTask, digest
from holdfast.text.numbers import counted, named, short

CHECKPOINT = "Run /holdfast:checkpoint to save progress"
MOST_DRAWN = 300  # batches of a picture; viewers refuse larger ones
LONGEST_LABEL = 80


@dataclass(frozen=True, slots=True)
class TaskPiece:
    """A task, or a part of one: `cut` says why, `of` names the task it is a step of."""

    task: PlanTask
    estimate: TaskEstimate
    cut: str = ""
    warning: str = ""
    of: PlanTask | None = None


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
    def is_unknown(self) -> bool:
        return any(piece.estimate.is_unknown for piece in self.pieces)

    @property
    def low_tokens(self) -> int:
        """Not the sum of all lows: it is rare that all tasks come out low at once."""
        below = ((piece.estimate.tokens - piece.estimate.low_tokens) ** 2 for piece in self.pieces)
        return max(0, round(self.tokens - sqrt(sum(below))))

    @property
    def high_tokens(self) -> int:
        above = ((piece.estimate.high_tokens - piece.estimate.tokens) ** 2 for piece in self.pieces)
        return round(self.tokens + sqrt(sum(above)))


@dataclass(frozen=True, slots=True)
class Workflow:
    title: str
    room: PlanRoom
    batches: tuple[TaskBatch, ...]
    done: tuple[str, ...] = ()  # ids of tasks that the plan marks as done
    warnings: tuple[str, ...] = ()
    past_tasks: int = 0  # how many tasks the corrections of the estimates can draw on

    @property
    def tokens(self) -> int:
        return sum(batch.tokens for batch in self.batches)

    @property
    def unknown(self) -> int:
        """How many tasks of the plan are of unknown size. Parts of one count once."""
        pieces = (piece for batch in self.batches for piece in batch.pieces)
        return len({piece.task.spec for piece in pieces if piece.estimate.is_unknown})

    @property
    def size(self) -> str:
        tokens = f"about {self.tokens:,} tokens"
        unknown = f" ({counted(self.unknown, 'task')} of unknown size)" if self.unknown else ""
        return tokens + unknown


def as_json(workflow: Workflow) -> dict[str, Any]:
    room = workflow.room
    return {
        "version": 2,
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
        "past_tasks": workflow.past_tasks,
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
        "phase": task.phase,
        "part": task.part or None,
        "description": task.description,
        "files": list(task.paths),
        "depends": list(task.depends),
        "subtasks": [step.title for step in task.open_subtasks],
        **_range(size),
        "is_unknown": size.is_unknown,
        "inputs": size.inputs,
        "cut": piece.cut or None,
        "warning": piece.warning or None,
    }


def _range(of: TaskBatch | TaskEstimate) -> dict[str, int]:
    low, high = of.low_tokens, of.high_tokens
    return {"estimated_tokens": of.tokens, "low_tokens": low, "high_tokens": high}


def draw_mermaid(workflow: Workflow) -> str:
    """The workflow as Mermaid text: `flowchart TD` with a node per batch and checkpoint."""
    lines = ["flowchart TD"]
    for at, batch in enumerate(workflow.batches[:MOST_DRAWN]):
        titles = (_quoted(piece.task.shown) for piece in batch.pieces)
        head = f"batch {at + 1}: {describe_size(batch)}"
        lines.append(f'    batch_{at}["{"<br/>".join([head, *titles])}"]')
        if at:
            lines.append(f'    checkpoint_{at - 1}(["checkpoint"])')
            lines.append(f"    batch_{at - 1} --> checkpoint_{at - 1} --> batch_{at}")
    if not workflow.batches:
        lines.append('    nothing["nothing left to do"]')
    if (more := len(workflow.batches) - MOST_DRAWN) > 0:
        lines.append(f'    more["{more:,} more batches"]')
    return "\n".join(lines) + "\n"


def describe_size(batch: TaskBatch) -> str:
    large = ", larger than the room" if batch.tokens > batch.room_tokens else ""
    side = ", side by side" if batch.parallel else ""
    return f"about {batch.tokens:,} of {batch.room_tokens:,} tokens{large}{side}"


def _quoted(title: str) -> str:
    """Escape a title with entities, so that none of its characters can end the label."""
    return "".join(
        mark if mark.isalnum() or mark in " .,-_/…" else f"#{ord(mark)};"
        for mark in short(named(title), LONGEST_LABEL)
    )
