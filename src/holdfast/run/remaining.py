"""The plan less what is done; and which of its tasks a piece of a batch is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.run.journal_state import Share

Coverage = Mapping[tuple[str, str], frozenset[str] | None]


def left(plan: TaskPlan, done: Coverage) -> TaskPlan:
    """The same plan with what is done marked so; of a task that was cut, what is left of it."""
    return replace(plan, tasks=tuple(_left(task, done) for task in plan.tasks))


def _left(task: PlanTask, done: Coverage) -> PlanTask:
    if task.done or _is_done(task, done):
        return replace(task, done=True)
    if task.subtasks:
        steps = tuple(_left(step, done) for step in task.subtasks)
        return replace(task, subtasks=steps, done=all(step.done for step in steps))
    covered = done.get((task.id, task.hash)) or frozenset()
    files = tuple(file for file in task.files if file not in covered)
    if len(files) == len(task.files):
        return task
    return _with_files(task, files)


def _is_done(task: PlanTask, done: Coverage) -> bool:
    key = (task.id, task.hash)
    if key not in done:
        return False
    covered = done[key]
    return covered is None or (bool(task.files) and covered.issuperset(task.files))


def _with_files(task: PlanTask, files: tuple[str, ...]) -> PlanTask:
    """A word on what all of it takes holds for each file alike."""
    total = task.estimate_tokens
    share = total if total is None else max(1, total * len(files) // len(task.files))
    groups = tuple(tuple(file for file in group if file in files) for group in task.groups)
    return replace(
        task,
        files=files,
        written=None,
        estimate_tokens=share,
        groups=tuple(group for group in groups if group),
    )


def by_id(plan: TaskPlan) -> dict[str, PlanTask]:
    return {one.id: one for task in plan.tasks for one in (task, *task.subtasks)}


def share_of(piece: TaskPiece, known: Mapping[str, PlanTask]) -> Share:
    """Which task of the plan as it is written the piece is, or how much of it."""
    name = piece.task.id
    task = known.get(name) or known[name.rpartition("/")[0]]
    whole = name == task.id and piece.task.files == task.files
    if whole:
        return Share(task.id, task.hash)
    of_files = task.files if task.written is not None else ()
    return Share(task.id, task.hash, piece.task.files, of_files)
