"""Tasks that wait for each other: no order can be found for them, so they are named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from holdfast.plan.errors import Cycle
from holdfast.plan.task import Task


def check(tasks: Sequence[Task]) -> None:
    """Raises Cycle, with the whole circle named, when some tasks wait for each other."""
    by_id = {task.id: task for task in tasks}
    _check(((task.id, task.depends) for task in tasks), by_id)
    for task in tasks:
        if task.subtasks:
            within = {one.id: one for one in task.subtasks}
            _check(((one.id, one.depends) for one in task.subtasks), within)


def _check(edges: Iterable[tuple[str, Sequence[str]]], tasks: dict[str, Task]) -> None:
    try:
        TopologicalSorter(dict(edges)).prepare()
    except CycleError as slip:
        circle: list[str] = slip.args[1][::-1]  # in the order in which they wait
        place = tasks[circle[0]].place
        raise Cycle(f"tasks wait for each other: {' → '.join(circle)}", place) from None
