"""A plan without what a run has done of it, and which share of a task a piece is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.plan.formats import read
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.run import journal_state
from holdfast.run.errors import JournalNotWritten, NewerJournal
from holdfast.run.journal import Journal, journal_folder
from holdfast.run.journal_state import RunHistory, TaskShare

Coverage = Mapping[tuple[str, str], frozenset[str] | None]


def remove_done(plan: TaskPlan, done: Coverage) -> TaskPlan:
    """The plan with finished tasks marked as done, and of cut tasks only what is left."""
    return replace(plan, tasks=tuple(_remove_done(task, done) for task in plan.tasks))


def _remove_done(task: PlanTask, done: Coverage) -> PlanTask:
    if task.done or _is_done(task, done):
        return replace(task, done=True)
    if task.subtasks:
        steps = tuple(_remove_done(step, done) for step in task.subtasks)
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
    """The task with fewer files. An estimate for all files is divided equally among them."""
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


def index_tasks(plan: TaskPlan) -> dict[str, PlanTask]:
    return {one.id: one for task in plan.tasks for one in (task, *task.subtasks)}


def share_of(piece: TaskPiece, known: Mapping[str, PlanTask]) -> TaskShare:
    """Which task of the plan the piece is, or which share of it."""
    name = piece.task.id
    task = known.get(name) or known[name.rpartition("/")[0]]
    whole = name == task.id and piece.task.files == task.files
    if whole:
        return TaskShare(task.id, task.hash)
    of_files = task.files if task.written is not None else ()
    return TaskShare(task.id, task.hash, piece.task.files, of_files)


@dataclass(frozen=True, slots=True)
class ContinuedPlan:
    """A plan without finished work. `ran` counts tasks that a run has done and that the file does
    not mark as done; `note` says why that is not known."""

    plan: TaskPlan
    ran: int = 0
    note: str = ""


def load_remaining(file: Path, root: Path) -> ContinuedPlan:
    known, note = _read_history(file, root)
    written = read.load_plan(file, root, known.spread())
    plan = remove_done(written, known.coverage())
    ran = sum(one.done for one in plan.tasks) - sum(one.done for one in written.tasks)
    return ContinuedPlan(plan, ran, note)


def _read_history(file: Path, root: Path) -> tuple[RunHistory, str]:
    """The history of the plan's runs. If its journal cannot be read, everything counts as open,
    and a note says why."""
    try:
        folder = journal_folder(file, root)
    except (OSError, ValueError):  # not a possible path; reading the plan reports that
        return RunHistory(), ""
    try:
        return journal_state.build_history(Journal(folder, only_read=True).records), ""
    except (JournalNotWritten, NewerJournal) as slip:
        return RunHistory(), f"the journal of its runs cannot be read: {slip}"
