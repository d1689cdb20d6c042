"""Findings: what tasks find out and write to no file, and which later sessions are told of it.

A session of a run starts with briefs of earlier ones: those of the batch before, those of tasks
that its own tasks depend on, and those that found something out. There are 12 at most, 500 tokens
each, so only a plan with many searches loses something.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from holdfast.plan.files import project_files
from holdfast.plan.kinds import is_a_search, names_its_result
from holdfast.plan.sizes import find_odd_files, is_document
from holdfast.plan.task import PlanTask
from holdfast.plan.workflow import TaskBatch

MAX_BRIEFS = 12
Session = TypeVar("Session", int, str)  # the number of a batch in a plan, the id of one that ran


def leaves_no_file(task: PlanTask, root: Path) -> bool:
    """Whether it finds something out and names no file to write that to."""
    if not is_a_search(task.title) or names_its_result(task.title):
        return False
    if any(map(is_document, task.files)):
        return False
    return project_files.MISSING not in find_odd_files(root, task).values()


def choose_briefs(
    last: Sequence[Session], needed: Sequence[Session], finds: Sequence[Session]
) -> list[Session]:
    """The sessions that a session gets briefs of, each once: the most needed first, and of those
    the latest first. All arguments are in the order in which the sessions ran."""
    found = (one for some in (last, needed, finds) for one in reversed(some[-MAX_BRIEFS:]))
    return list(dict.fromkeys(found))[:MAX_BRIEFS]


def find_lost(
    tasks: Sequence[PlanTask], batches: Sequence[TaskBatch], root: Path
) -> list[PlanTask]:
    """The tasks whose findings some later session gets nothing of."""
    unwritten = {task.id: task for task in tasks if leaves_no_file(task, root)}
    needs = {task.id: task.depends for task in tasks}
    homes: dict[str, list[int]] = {}  # the batches of each task
    reach: list[int] = []  # batches whose findings have reached every session so far
    lost: dict[str, PlanTask] = {}
    for at, batch in enumerate(batches):
        specs = list(dict.fromkeys(piece.task.spec for piece in batch.pieces))
        needed = {home for spec in specs for name in needs[spec] for home in homes.get(name, ())}
        given = choose_briefs(list(range(max(0, at - 1), at)), sorted(needed), reach)
        for missed in (one for one in reach if one not in given):
            names = (piece.task.spec for piece in batches[missed].pieces)
            lost |= {name: unwritten[name] for name in names if name in unwritten}
        reach = [one for one in reach if one in given]
        if not unwritten.keys().isdisjoint(specs):
            reach.append(at)
        for spec in specs:
            homes.setdefault(spec, []).append(at)
    return list(lost.values())
