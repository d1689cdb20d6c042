"""A task that does not fit is cut where it can be, and says so where it cannot."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.estimate import TaskEstimate
from holdfast.plan.estimate import estimate_of_plan as given_tokens
from holdfast.plan.planner import group_files, split_task
from holdfast.plan.task import PlanTask
from holdfast.plan.workflow import TaskPiece
from tests.plan.builders import a_task

NOWHERE = Path("/nonexistent")


def _by_file(task: PlanTask) -> TaskEstimate:
    """A thousand tokens a file; what the plan gives, where it does."""
    return given_tokens(task.size_tokens or 1000 * max(1, len(task.paths)))


def _split(task: PlanTask, room: int = 2500) -> list[TaskPiece]:
    return split_task(task, room, _by_file, partial(group_files, NOWHERE))


@pytest.mark.requirement("P2")
def test_what_fits_stays_whole() -> None:
    task = a_task(files=("a", "b"), subtasks=(a_task("one/x"), a_task("one/y")))
    assert [piece.task for piece in _split(task)] == [task]


@pytest.mark.requirement("P2")
def test_explicit_subtasks_come_first() -> None:
    steps = (a_task("one/x"), a_task("one/done", done=True), a_task("one/y", files=tuple("abcd")))
    found = _split(a_task(files=tuple("pqrs"), subtasks=steps))
    assert found[0].task.id == "one/x" and found[0].cut == 'a step of "one"'
    assert len(found) == 3 and all(piece.task.id.startswith("one/y/") for piece in found[1:])
    assert not any(piece.warning for piece in found)


@pytest.mark.requirement("P2", "P3")
def test_steps_are_done_in_their_order_whatever_is_done_or_cut() -> None:
    """The second is cut by its files, the third is done: the fourth waits for all of the second."""
    steps = (
        a_task("one/w"),
        a_task("one/x", files=tuple("abcd")),
        a_task("one/y", done=True),
        a_task("one/z", depends=("one/y",)),
    )
    first, *second, last = _split(a_task(files=tuple("pqrs"), subtasks=steps))
    assert len(second) == 2 and all(one.task.depends == ("one/w",) for one in second)
    assert (first.task.depends, last.task.id) == ((), "one/z")
    assert last.task.depends == tuple(one.task.id for one in second)


@pytest.mark.requirement("P2")
def test_else_groups_of_files_that_belong_together() -> None:
    found = _split(a_task(files=("a/1", "a/2", "b/1", "b/2", "b/3")))
    assert [piece.task.paths for piece in found] == [("a/1", "a/2"), ("b/1", "b/2"), ("b/3",)]
    assert found[0].task.part == "1 of 3" and found[0].task.spec == "one"
    assert found[0].cut == "grouped by folder"


@pytest.mark.requirement("P2")
def test_else_a_clear_warning() -> None:
    [piece] = _split(a_task(size_tokens=9000))
    assert piece.warning == (
        "about 9,000 tokens do not fit into 2,500, "
        "and it names neither subtasks nor files to cut it by"
    )


@pytest.mark.requirement("P2")
def test_the_user_overrides_any_cut() -> None:
    files = tuple("abcd")
    [kept] = _split(a_task(files=files, whole=True))
    assert "the plan says `split: no`" in kept.warning and kept.task.paths == files
    steps = (a_task("one/x", files=("d", "a")), a_task("one/y", files=("b", "c")))
    drawn = _split(a_task(files=files, subtasks=steps))
    assert [piece.task.paths for piece in drawn] == [("d", "a"), ("b", "c")]


FILES = st.lists(st.text("abc/", min_size=1, max_size=4), unique=True, min_size=1, max_size=12)


@pytest.mark.requirement("P2")
@given(FILES, st.integers(500, 9000))
def test_a_cut_loses_no_file_and_makes_pieces_that_fit(files: list[str], room: int) -> None:
    found = _split(a_task(files=tuple(files)), room)
    assert sorted(file for piece in found for file in piece.task.paths) == sorted(files)
    assert len({piece.task.id for piece in found}) == len(found)
    assert all(piece.estimate.tokens <= room or piece.warning for piece in found)
