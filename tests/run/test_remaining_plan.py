"""What is left of a plan: done work never comes again, and nothing else is left out."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan import room
from holdfast.plan.estimate import Past
from holdfast.plan.planner import make_workflow
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.plan.workflow import Workflow
from holdfast.run.journal import (
    Ended,
    RunHistory,
    Started,
    TaskShare,
    index_tasks,
    remove_done,
    share_of,
)
from holdfast.run.report import DONE

NOBODY = Past()
FILES = tuple(f"f{n}.py" for n in range(6))


@st.composite
def plans(draw: st.DrawFn) -> TaskPlan:
    tasks = []
    for n in range(draw(st.integers(1, 5))):
        name = f"t{n}"
        steps = tuple(
            PlanTask(f"{name}/s{k}", f"step {k}", spec=name, size_tokens=draw(st.integers(1, 90)))
            for k in range(draw(st.sampled_from([0, 0, 2, 3])))
        )
        files = () if steps else FILES[: draw(st.integers(0, 6))]
        size = draw(st.integers(1, 400))
        before = draw(st.sets(st.sampled_from([f"t{k}" for k in range(n)]))) if n else set()
        tasks.append(
            PlanTask(
                name,
                f"task {n}",
                files=files,
                paths=files,
                subtasks=steps,
                depends=tuple(sorted(before)),
                size_tokens=size,
                spec=name,
            )
        )
    return TaskPlan("p", tuple(tasks))


def _flow(plan: TaskPlan, tokens: int) -> Workflow:
    return make_workflow(plan, room.stated_room(tokens, 3), NOBODY, Path("/nowhere"))


def _finish(known: RunHistory, shares: list[TaskShare]) -> None:
    session = f"s{len(known.tries)}"
    known.take(Started(session, session, tasks=tuple(shares)))
    known.take(Ended(session, DONE))


def _work(share: TaskShare, plan: TaskPlan) -> set[tuple[str, str]]:
    """What there is to be done, in its smallest pieces."""
    task = index_tasks(plan)[share.id]
    parts = share.files if share.files is not None else task.files
    steps = [step.id for step in task.subtasks if not step.done]
    return {(share.id, file) for file in parts} or {(one, "") for one in steps or [share.id]}


@pytest.mark.slow
@pytest.mark.requirement("P5")
@given(plans(), st.lists(st.integers(20, 400), min_size=1, max_size=6))
def test_however_the_room_changes_between_runs_all_is_done_once(
    plan: TaskPlan, rooms: list[int]
) -> None:
    """Each run does one batch and is killed; the next plans what is left for another room."""
    known, done = RunHistory(), list[tuple[str, str]]()
    rest = plan
    while (flow := _flow(rest, rooms[len(known.tries) % len(rooms)])).batches:
        shares = [share_of(piece, index_tasks(plan)) for piece in flow.batches[0].pieces]
        done += [work for share in shares for work in _work(share, rest)]
        _finish(known, shares)
        rest = remove_done(plan, known.coverage())
    wanted = {work for task in plan.tasks for work in _work(TaskShare(task.id, task.hash), plan)}
    assert set(done) == wanted
    assert len(done) == len(wanted)


@pytest.mark.requirement("P5")
@given(plans(), st.data())
def test_a_task_that_was_edited_is_done_again_and_no_other(
    plan: TaskPlan, data: st.DataObject
) -> None:
    known = RunHistory()
    for batch in _flow(plan, 500).batches:
        _finish(known, [share_of(piece, index_tasks(plan)) for piece in batch.pieces])
    changed = data.draw(st.sampled_from(plan.tasks))
    tasks = [
        replace(task, description="otherwise") if task is changed else task for task in plan.tasks
    ]
    rest = remove_done(TaskPlan("p", tuple(tasks)), known.coverage())
    again = {task.id for task in rest.tasks if not task.done}
    shares = [share.id for one in known.done for share in one.shares]
    whole = not changed.subtasks or changed.id in shares  # its steps did not change
    assert again == ({changed.id} if whole else set())
