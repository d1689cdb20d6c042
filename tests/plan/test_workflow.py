"""A plan becomes a workflow: batches in the order of the file, checkpoints between them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan import room
from holdfast.plan.estimate import Past
from holdfast.plan.load import read_plan
from holdfast.plan.planner import make_workflow, order_tasks
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import PlanTask
from holdfast.plan.workflow import Workflow, as_json, draw_mermaid
from tests.plan.builders import a_plan, a_task

NOWHERE = Path("/nonexistent")
FRESH = room.stated_room(100_000, 3)


def _made(*tasks: PlanTask, at: PlanRoom = FRESH, side_by_side: bool = False) -> Workflow:
    return make_workflow(a_plan(*tasks), at, Past(), NOWHERE, side_by_side=side_by_side)


def _sized(name: str, tokens: int = 60_000, **given: object) -> PlanTask:
    return a_task(name, size_tokens=tokens, **given)


def _shape(flow: Workflow) -> list[list[str]]:
    return [[piece.task.id for piece in batch.pieces] for batch in flow.batches]


@pytest.mark.requirement("P3")
def test_a_checkpoint_stands_between_each_two_batches() -> None:
    found = as_json(_made(_sized("a"), _sized("b"), _sized("c")))
    assert list(found["nodes"]) == ["batch_0", "checkpoint_0", "batch_1", "checkpoint_1", "batch_2"]
    assert found["edges"][:2] == [
        {"from": "batch_0", "to": "checkpoint_0"},
        {"from": "checkpoint_0", "to": "batch_1"},
    ]
    assert found["nodes"]["checkpoint_0"]["type"] == "single"
    assert "checkpoint" in found["nodes"]["checkpoint_0"]["prompt"]
    json.dumps(found)


@pytest.mark.requirement("P3", "P4")
def test_a_batch_closes_when_the_next_task_does_not_fit() -> None:
    """Also if a later one would: the order stays."""
    flow = _made(_sized("a"), _sized("b", 50_000), _sized("c", 40_000), _sized("d", 1_000))
    assert _shape(flow) == [["a"], ["b", "c", "d"]]


@pytest.mark.requirement("P4")
def test_a_batch_has_at_most_three_tasks() -> None:
    flow = _made(*(_sized(name, 10) for name in "abcdefg"))
    assert _shape(flow) == [["a", "b", "c"], ["d", "e", "f"], ["g"]]


@pytest.mark.requirement("P3")
def test_a_phase_begins_a_batch_and_comes_after_the_phases_before() -> None:
    flow = _made(_sized("late", 10, phase=2), _sized("a", 10, phase=1), _sized("b", 10, phase=1))
    assert _shape(flow) == [["a", "b"], ["late"]]


@pytest.mark.requirement("P3")
def test_a_task_comes_right_after_the_later_one_that_it_depends_on() -> None:
    plan = read_plan("- [ ] T1 a\n  depends: T3\n- [ ] T2 b\n- [ ] T3 c\n- [ ] T4 d\n", ".md")
    flow = make_workflow(plan, FRESH, Past(), NOWHERE)
    assert _shape(flow) == [["T2", "T3", "T1"], ["T4"]]


@given(st.permutations(range(8)), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_any_order_respects_dependencies_and_loses_no_task(
    names: list[int], pairs: set[tuple[int, int]]
) -> None:
    needs = {one: tuple(str(low) for low, high in pairs if low < high == one) for one in names}
    tasks = [a_task(str(name), depends=needs[name]) for name in names]
    ordered = [task.id for task in order_tasks(tasks)]
    assert sorted(ordered) == sorted(task.id for task in tasks)
    assert all(
        ordered.index(need) < ordered.index(str(name)) for name in names for need in needs[name]
    )


@pytest.mark.requirement("P3")
def test_tasks_that_are_done_are_left_out_and_nothing_waits_for_them() -> None:
    flow = _made(_sized("a", done=True), _sized("b", depends=("a",)))
    assert (_shape(flow), flow.done) == ([["b"]], ("a",))
    assert flow.batches[0].pieces[0].task.depends == ()


@pytest.mark.requirement("P3")
def test_whoever_waits_for_a_task_that_was_cut_waits_for_all_its_parts() -> None:
    files = tuple(f"{n}.txt" for n in range(8))
    flow = _made(_sized("big", 400_000, files=files), _sized("after", depends=("big",)))
    pieces = [piece.task for batch in flow.batches for piece in batch.pieces]
    parts = [task.id for task in pieces if task.spec == "big"]
    assert len(parts) == 4 and pieces[-1].id == "after"
    assert sorted(pieces[-1].depends) == sorted(parts)


@pytest.mark.requirement("P3")
def test_marked_tasks_run_side_by_side_only_where_the_user_asks() -> None:
    tasks = [_sized("a", 10), *(_sized(name, 10, parallel=True) for name in "bcd")]
    alone = _made(*tasks)
    beside = _made(*tasks, side_by_side=True)
    assert (_shape(alone), _shape(beside)) == ([["a", "b", "c"], ["d"]], [["a"], ["b", "c", "d"]])
    assert [batch.parallel for batch in alone.batches] == [False, False]
    assert [batch.parallel for batch in beside.batches] == [False, True]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    "other", [{"files": ("x.py",)}, {"depends": ("a",)}, {"section": "Part 2"}, {"parallel": False}]
)
def test_marked_tasks_that_share_a_file_or_wait_are_not_in_one_batch(
    other: dict[str, object],
) -> None:
    first = _sized("a", 10, parallel=True, files=("x.py",))
    second = _sized("b", 10, **{"parallel": True, **other})
    assert _shape(_made(first, second, side_by_side=True)) == [["a"], ["b"]]


@pytest.mark.requirement("P3")
def test_the_user_is_told_what_does_not_fit_or_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "here.py").touch()
    tasks = [
        a_task("a", files=("here.py", "gone.py", "../away.py")),
        _sized("b", 200_000, title="Move it"),
    ]
    notes = make_workflow(a_plan(*tasks), FRESH, Past(), tmp_path).warnings
    assert "not there yet, so taken as files to create: gone.py" in notes
    assert "not in this project, and not looked at: ../away.py" in notes
    assert any(note.startswith('"Move it": about 200,000 tokens do not fit') for note in notes)


@pytest.mark.requirement("P3")
def test_the_picture_is_a_mermaid_flowchart() -> None:
    flow = _made(_sized("a", title='Fix "it" <now>'), _sized("b"))
    assert draw_mermaid(flow) == (
        "flowchart TD\n"
        '    batch_0["batch 1: about 60,000 of 100,000 tokens<br/>Fix #34;it#34; #60;now#62;"]\n'
        '    batch_1["batch 2: about 60,000 of 100,000 tokens<br/>b"]\n'
        '    checkpoint_0(["checkpoint"])\n'
        "    batch_0 --> checkpoint_0 --> batch_1\n"
    )
