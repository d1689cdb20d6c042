"""Dependencies that a task states in words are read, or reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.plan.estimates.estimate import Past
from holdfast.plan.formats.read import read_plan
from holdfast.plan.planner import make_workflow
from holdfast.plan.task import PlanTask
from tests.plan.builders import a_room

BEFORE = """
## Phase 1: wood
- [ ] **B1 - Saw the planks**
- [ ] B2: Boil the tar
## Phase 2: cloth
- [ ] B3: Weave the canvas for the `MainSail`
## Phase 3: launch
"""


def last_of(text: str) -> PlanTask:
    return read_plan(f"{BEFORE}{text}\n").tasks[-1]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("words", "waits_for"),
    [
        ("Hoist it. Depends on B1.", "1"),
        ("**Hoist it.** Needs tasks 2 and 3.", "23"),
        ("Hoist it. Depends on 1, 2 and 3.", "123"),
        ("Hoist it. After 2.", "2"),
        ("Hoist it. Requires B3.", "3"),
        ("Hoist it (needs tasks 1 and 2)", "12"),
        ("Hoist it. Depends on step 3.", "3"),
        ("Hoist it. Depends on #1 and #2\u2013#3.", "123"),
        ("Hoist it. Depends on 1 and, if it is still wet, 2.", "12"),
        ("Hoist it (needs all of phase 1 and 2)", "123"),
        ("Hoist it (after phases 1-2)", "123"),
        ("Hoist it (depends on the canvas)", "3"),
        ("Hoist it. Requires MainSail.", "3"),
        ("Hoist it. Only after 1 and 3 are merged.", "13"),
        ("Hoist it. Depends on #2 only.", "2"),
        ("Hoist it. Depends on B1; is about as heavy as B2.", "1"),
        ("Hoist it. Depends on everything above.", "123"),
        ("Hoist it. Inputs: 1, 3.", "13"),
        ("Hoist it. Last step.", "123"),
        ("Hoist it. Do this last.", "123"),
        ("Hoist it. This depends on the tar and on good weather.", "2"),
        ("Hoist it\n  - depends on: tasks 1 and 2", "12"),
        ("Hoist it\n  - depends on: none", ""),
        ("Hoist it. Depends on nothing.", ""),
        ("Hoist it\n  Depends on B1,\n  B2\n  and B3.", "123"),
        ("Hoist it\n  - Depends on B1", "1"),
        ("Hoist it\n  Use the crane. After 1 and 2.", "12"),
        ("Hoist the part that depends on B1", ""),
        ("Hoist it in a lock that needs 2 people", ""),
        ("Hoist it\n  ```\n  Depends on B1.\n  ```", ""),
    ],
)
def test_a_task_waits_for_the_tasks_that_its_words_name(words: str, waits_for: str) -> None:
    ids = ["b1-saw-the-planks", "b2-boil-the-tar", "b3-weave-the-canvas-for-the-mainsail"]
    found = last_of(f"- [ ] {words}")
    assert sorted(found.depends) == [ids[int(number) - 1] for number in waits_for]
    assert not found.unread


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("words", "unread"),
    [
        ("Hoist it. Depends on B9.", "Depends on B9"),
        ("Hoist it (requires RiggingPlan)", "requires RiggingPlan"),
        ("Hoist it. Depends on B1 and B9.", "Depends on B1 and B9"),
        ("Hoist it (depends on the weather of the whole week)", "depends on the weather"),
        ("Hoist it (needs 2 days)", ""),
        ("Hoist it, after lunch", ""),
        ("Hoist it. After that, row home and tell everybody who helped.", ""),
    ],
)
def test_a_stated_dependency_that_names_no_task_is_kept_to_be_reported(
    words: str, unread: str
) -> None:
    found = last_of(f"- [ ] {words}").unread
    assert found.startswith(unread) and bool(found) == bool(unread)


def test_a_task_waits_for_all_earlier_tasks_that_a_word_may_mean() -> None:
    text = "- [ ] Cut the sail\n- [ ] Dye the sails\n- [ ] Hoist it (needs the sail)\n"
    first, second, task = read_plan(text).tasks
    assert (task.depends, task.unread) == ((first.id, second.id), "")


@pytest.mark.parametrize(
    ("words", "waits_for"),
    [
        ("Hoist it with the rope from step 2", "2"),
        ("Hoist it with the rope from task 5", "5"),
        ("Hoist it. Requires everything above except 2.", "13"),
        ("Hoist it (after the canvas has dried)", "3"),
        ("Hoist it\n  - follows the tar", "2"),
        ("Hoist it. Needs the previous step.", "3"),
        ("Hoist it (blocked by the rope)", "5"),
        ("Hoist it. Everything above must be in.", "123"),
        ("Hoist it \u2014 final step", "123"),
        ("Hoist it. Can't start until the tar boils.", "2"),
        ("Hoist it. Can be done in parallel with task 2.", ""),
    ],
)
def test_other_words_name_tasks_too(words: str, waits_for: str) -> None:
    plan = read_plan(f"{BEFORE}- [ ] {words}\n- [ ] Twist a rope\n")
    assert set(plan.tasks[3].depends) == {plan.tasks[int(at) - 1].id for at in waits_for}
    assert not plan.tasks[3].unread


def test_numbers_are_those_of_the_own_list() -> None:
    plan = read_plan("## Bow\n1. Cut\n2. Sew\n## Stern\n1. Saw\n2. Nail (after 1)\n")
    assert plan.tasks[3].depends == ("saw",)


@pytest.mark.parametrize(
    ("words", "is_late"),
    [
        ("Weigh it. That has to be taken before any wood is cut.", True),
        ("Weigh it. Do this first.", True),
        ("Weigh it before lunch", False),
    ],
)
def test_a_task_that_has_to_come_first_but_is_listed_later_is_reported(
    words: str, is_late: bool, tmp_path: Path
) -> None:
    late, early = (
        make_workflow(read_plan(text), a_room(), Past(), tmp_path).warnings
        for text in (f"- [ ] Cut it\n- [ ] {words}\n", f"- [ ] {words}\n- [ ] Cut it\n")
    )
    assert any("listed after it: task 2" in note for note in late) == is_late
    assert not any("listed after it" in note for note in early)


def test_tasks_after_one_that_all_build_on_wait_for_it(tmp_path: Path) -> None:
    text = "- [ ] Saw planks. Everything else builds on this.\n- [ ] Dye\n- [ ] Sew\n"
    found = make_workflow(read_plan(text), a_room(), Past(), tmp_path)
    waits = [piece.task.depends for batch in found.batches for piece in batch.pieces]
    assert waits[0] == () and waits[1] == waits[2] != ()


def test_ids_without_a_colon_can_be_named() -> None:
    text = "- [ ] #402 Cut it\n- [ ] [#404](https://example.org/404) Dye it\n"
    cut, dye, _, sew = read_plan(
        f"{text}- [ ] T-1 Saw it\n- [ ] Sew it (after #402, #404 and T-1)\n"
    ).tasks
    assert sew.depends == (cut.id, dye.id, "t-1-saw-it")


def test_a_task_comes_after_the_later_one_that_it_waits_for_and_others_keep_their_order(
    tmp_path: Path,
) -> None:
    text = "- [ ] Cut\n- [ ] Sew with the thread from task 4\n- [ ] Dye\n- [ ] Spin\n- [ ] Commit\n"
    found = make_workflow(read_plan(text), a_room(), Past(), tmp_path)
    pieces = [piece.task.title for batch in found.batches for piece in batch.pieces]
    assert pieces == ["Cut", "Dye", "Spin", "Sew with the thread from task 4", "Commit"]


@pytest.mark.requirement("P1", "P3")
def test_a_task_with_an_unread_dependency_is_reported_and_runs_beside_no_other(
    tmp_path: Path,
) -> None:
    tasks = (
        "- [ ] Change the hull\n  - files: hull.py\n- [ ] Change the mast{}\n  - files: mast.py\n"
    )
    clear, unclear = (
        make_workflow(read_plan(tasks.format(words)), a_room(), Past(), tmp_path)
        for words in ("", ". Depends on M7.")
    )
    assert clear.batches[0].parallel and not unclear.batches[0].parallel
    notes = [words for words in unclear.warnings if "not clear which task is meant" in words]
    assert len(notes) == 1 and "task 2 ('Depends on M7')" in notes[0]
    assert "`- depends: 1`" in notes[0]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("field", ["depends", "blocked by", "needs"])
def test_a_field_names_a_task_by_words_of_its_title(field: str) -> None:
    task = last_of(f"- [ ] Hoist it\n  - {field}: the planks")
    assert task.depends == (read_plan(BEFORE).tasks[0].id,)
