"""Cut a task that does not fit into pieces that do, if it can be cut.

It is cut along its own subtasks, else into groups of files that belong together. A task that has
none of these, or that the plan keeps whole (`split: no`), stays whole, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from holdfast.plan.estimate import TaskEstimate, estimate_of_plan
from holdfast.plan.groups import FileGroups
from holdfast.plan.task import PlanTask, digest
from holdfast.text.numbers import step_of

SHARE = "its share of what the plan gives"
Estimate = Callable[[PlanTask], TaskEstimate]
Grouper = Callable[[tuple[str, ...], int], FileGroups]


@dataclass(frozen=True, slots=True)
class TaskPiece:
    """A task, or a part of one, with its estimate. `cut` says why it is a part, `of` names the task
    it is a step of."""

    task: PlanTask
    estimate: TaskEstimate
    cut: str = ""
    warning: str = ""
    of: PlanTask | None = None


def split_task(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> list[TaskPiece]:
    """Pieces of at most `room_tokens` each, if there is a way to cut the task."""
    size = estimate(task)
    if size.tokens <= room_tokens:
        return [TaskPiece(task, size)]
    if not task.whole and task.open_subtasks:
        return list(_steps(task, room_tokens, estimate, groups))
    if not task.whole and len(task.paths) > 1:
        return _parts(task, room_tokens, estimate, groups)
    return [TaskPiece(task, size, warning=_too_large(size, room_tokens, _why_whole(task)))]


def _why_whole(task: PlanTask) -> str:
    if task.whole:
        return "the plan says `split: no`"
    names = "only one file and no subtasks" if task.paths else "neither subtasks nor files"
    return f"it names {names} to cut it by"


def _steps(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> Iterator[TaskPiece]:
    """The steps as pieces, in their order: each waits for all pieces of the open step before."""
    before: tuple[str, ...] = ()
    share = _share_of_a_step(task)
    for step in task.open_subtasks:
        takes_share = step.size_tokens is None and share is not None
        sized = replace(step, size_tokens=share) if takes_share else step
        pieces = split_task(sized, room_tokens, estimate, groups)
        if takes_share:
            pieces = [
                replace(piece, estimate=replace(piece.estimate, inputs=SHARE)) for piece in pieces
            ]
        for piece in pieces:
            waiting = replace(piece.task, depends=before, phase=task.phase, parallel=False)
            cut = piece.cut or step_of(task.title)
            yield replace(piece, task=waiting, cut=cut, of=task)
        before = tuple(piece.task.id for piece in pieces)


def _share_of_a_step(task: PlanTask) -> int | None:
    """The share of a step without a size: the task's size, less that of the other steps, divided by
    the steps without one. None if the task has no size, or nothing is left of it."""
    given = [step.size_tokens for step in task.subtasks if step.size_tokens is not None]
    rest, takers = (task.size_tokens or 0) - sum(given), len(task.subtasks) - len(given)
    return -(-rest // takers) if rest > 0 and takers else None


def _parts(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> list[TaskPiece]:
    if task.size_tokens is not None:
        estimate = _share_equally(task, task.size_tokens)
    grouped = _fitting_groups(task, room_tokens, estimate, groups)
    pieces = []
    for at, paths in enumerate(grouped.groups, 1):
        part = _part(task, paths, f"{at} of {len(grouped.groups)}")
        size = estimate(part)
        warning = ""
        if size.tokens > room_tokens:
            warning = _too_large(size, room_tokens, "it cannot be cut further")
        pieces.append(TaskPiece(part, size, f"grouped by {grouped.why}", warning))
    return pieces


def _fitting_groups(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> FileGroups:
    """Groups that fit. Files differ in size, so that fewer of them may fit than in the middle."""
    most = max(1, len(task.paths) * room_tokens // estimate(task).tokens)
    while True:
        grouped = groups(task.paths, most)
        sizes = (estimate(replace(task, paths=paths)).tokens for paths in grouped.groups)
        if most == 1 or max(sizes) <= room_tokens:
            return grouped
        most = max(1, most * 3 // 4)


def _share_equally(task: PlanTask, size_tokens: int) -> Estimate:
    """Divides the plan's number for the task equally among its files."""
    return lambda part: estimate_of_plan(
        -(-size_tokens * len(part.paths) // len(task.paths)), SHARE
    )


def _part(task: PlanTask, paths: tuple[str, ...], part: str) -> PlanTask:
    """A part with these files and the task's steps. Its id is made from its files, so that it does
    not change when other tasks do."""
    name = f"{task.id}/{digest(list(paths))[:10]}"
    part = "" if part == "1 of 1" else part
    return replace(task, id=name, part=part, files=paths, paths=paths)


def _too_large(size: TaskEstimate, room_tokens: int, why: str) -> str:
    return f"about {size.tokens:,} tokens do not fit into {room_tokens:,}, and {why}"
