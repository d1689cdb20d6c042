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
        ("Hoist it (needs all of phase 1 and 2)", "123"),
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
    ],
)
def test_a_stated_dependency_that_names_no_task_is_kept_to_be_reported(
    words: str, unread: str
) -> None:
    found = last_of(f"- [ ] {words}").unread
    assert found.startswith(unread) and bool(found) == bool(unread)


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    "words",
    [
        "(needs the canvas)",
        "(also needs the canvas)",
        "(after the canvas has dried)",
        "once the canvas is woven",
        "\n  - wait for all the planks",
    ],
)
def test_words_that_only_resemble_a_title_make_a_task_wait_for_all_above(
    words: str, tmp_path: Path
) -> None:
    """Matching them with titles took `needs the benchmark` for every title with that word."""
    plan = read_plan(f"{BEFORE}- [ ] Hoist it {words}\n- [ ] Row\n")
    found = make_workflow(plan, a_room(), Past(), tmp_path)
    waits = {piece.task.id: piece.task.depends for one in found.batches for piece in one.pieces}
    assert set(waits[plan.tasks[3].id]) == {task.id for task in plan.tasks[:3]}


@pytest.mark.requirement("P3")
def test_a_sentence_may_say_what_other_tasks_wait_for() -> None:
    plan = read_plan("1. Saw\n2. Boil\n3. Weave\n4. Likewise the rope. 3 and 4 both need 1.\n")
    assert [task.depends for task in plan.tasks] == [(), (), ("saw",), ("saw",)]
    assert plan.tasks[3].joins == "weave"


@pytest.mark.parametrize(
    ("words", "waits_for"),
    [
        ("Hoist it with the rope from step 2", "2"),
        ("Hoist it with the rope from task 5", "5"),
        ("Hoist it. Requires everything above except 2.", "13"),
        ("Hoist it. Needs the previous step.", "3"),
        ("Hoist it. Everything above must be in.", "123"),
        ("Hoist it \u2014 final step", "123"),
    ],
)
def test_other_words_name_tasks_too(words: str, waits_for: str) -> None:
    plan = read_plan(f"{BEFORE}- [ ] {words}\n- [ ] Twist a rope\n")
    assert set(plan.tasks[3].depends) == {plan.tasks[int(at) - 1].id for at in waits_for}
    assert not plan.tasks[3].unread


def test_numbers_are_those_of_the_own_list() -> None:
    plan = read_plan("## Bow\n1. Cut\n2. Sew\n## Stern\n1. Saw\n2. Nail (after 1)\n")
    assert plan.tasks[3].depends == ("saw",)


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("words", ["Needs 1 and 3", "After 1 and 3", "Depends on 1 and 3"])
def test_a_reason_in_brackets_does_not_hide_what_a_task_waits_for(words: str) -> None:
    plan = read_plan(f"1. Saw\n2. Sew. {words} (they hold it, so both come first).\n3. Boil\n")
    assert plan.tasks[1].depends == ("saw", "boil")


@pytest.mark.parametrize(
    ("words", "alike"),
    [
        ("Same as task 1 for the boom", "saw"),
        ("Repeat 1 for the boom", "saw"),
        ("Treat the boom, same approach as in 2", "boil"),
        ("Same for the boom", "weave"),
        ("Make it look like 5 others", ""),
    ],
)
def test_a_task_is_like_the_one_that_it_names(words: str, alike: str) -> None:
    plan = read_plan(f"1. Saw\n2. Boil\n3. Weave\n4. {words}\n")
    assert plan.tasks[3].joins == alike


@pytest.mark.parametrize(
    ("words", "waits"),
    [("This needs the report from step 2.", "2"), ("Needs nothing from 1-2.", "")],
)
def test_a_number_further_on_in_a_statement_counts(words: str, waits: str) -> None:
    plan = read_plan(f"1. Saw\n2. Boil\n3. Weave. {words}\n")
    assert plan.tasks[2].depends == tuple(plan.tasks[int(at) - 1].id for at in waits)
    assert not plan.tasks[2].unread


def test_a_task_that_is_like_another_may_be_independent_of_it() -> None:
    plan = read_plan("1. Saw\n2. Same for the mast. Independent of 1.\n3. Same for the boom\n")
    assert [task.depends for task in plan.tasks[1:]] == [(), (plan.tasks[1].id,)]


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
    notes = [words for words in unclear.warnings if "waits for all tasks above" in words]
    assert len(notes) == 1 and "task 2 ('Depends on M7')" in notes[0]
    assert "`- depends: 1`" in notes[0]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("field", ["depends", "blocked by", "needs"])
def test_a_field_names_a_task_by_words_of_its_title(field: str) -> None:
    task = last_of(f"- [ ] Hoist it\n  - {field}: the planks")
    assert task.depends == (read_plan(BEFORE).tasks[0].id,)


LETTERS = (
    "- [ ] A: Saw the planks\n- [ ] B: Boil the tar\n- [ ] C: Weave canvas\n- [ ] D: Cut rope\n"
    "- [ ] E: {}\n- [ ] F: Launch\n- [ ] G: Feast\n"
)


def waits_in(text: str) -> dict[str, str]:
    """For each task that waits, the letters of those it waits for."""
    tasks = read_plan(text).tasks
    letter = {task.id: task.title[0] for task in tasks}
    return {
        task.title[0]: "".join(sorted(letter[name] for name in task.depends))
        for task in tasks
        if task.depends
    }


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("words", "waits"),
    [
        ("Paint it once B and C are merged", {"E": "BC"}),
        ("Paint it; must happen before F", {"F": "E"}),
        ("Paint it. Don't start before C is in", {"E": "C"}),
        ("Paint it after the second task", {"E": "B"}),
        ("Paint it when nobody uses it any more", {"E": "ABCD"}),
        ("Paint the part that needs B", {}),
        ("Paint it once per day", {}),
    ],
)
def test_a_word_of_order_near_a_reference_is_read_anywhere_in_a_sentence(
    words: str, waits: dict[str, str]
) -> None:
    text = LETTERS.format(words)
    assert waits_in(text) == waits
    assert not read_plan(text).tasks[4].unread


@pytest.mark.parametrize(
    "words",
    ["Paint it once the weather is fine", "Paint it. Only after lunch, otherwise it drips."],
)
def test_a_condition_that_names_no_task_is_kept_to_be_reported(words: str) -> None:
    assert read_plan(LETTERS.format(words)).tasks[4].unread


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("tail", "waits"),
    [
        ("\nDependencies: D <- B, C\n", {"D": "BC"}),
        ("Dependencies: D <- B, C\n", {"D": "BC"}),
        ("\n## Dependencies\n- D depends on B, C\n- C needs A\n", {"C": "A", "D": "BC"}),
        ("\nB -> D\n", {"D": "B"}),
        ("\n| Task | Depends on |\n|---|---|\n| A | - |\n| D | B, C |\n", {"D": "BC"}),
        ("\nDependencies:\n- C: A and B\n- D: none\n", {"C": "AB"}),
    ],
)
def test_dependencies_that_a_plan_lists_beside_its_tasks_are_read(
    tail: str, waits: dict[str, str]
) -> None:
    tasks = "".join(LETTERS.splitlines(keepends=True)[:4])
    assert waits_in(f"{tasks}{tail}") == waits


def test_a_heading_names_all_tasks_below_it() -> None:
    plan = read_plan(
        "# Boat\n## Wood\n- [ ] Saw\n- [ ] Nail\n## Cloth\n- [ ] Sew, after the wood part is in\n"
    )
    assert plan.tasks[2].depends == ("saw", "nail")


@pytest.mark.requirement("P3", "U3")
def test_words_do_not_turn_the_list_around(tmp_path: Path) -> None:
    """`The commit before step 1` is a point in time, and no order."""
    plan = read_plan("1. Pin a.py\n2. Cut b.py\n3. Compare with the commit before step 1\n")
    assert [task.depends for task in plan.tasks] == [(), (), ()]
    found = make_workflow(plan, a_room(), Past(), tmp_path)
    assert any("the other way round: task 3 before task 1" in one for one in found.warnings)


@pytest.mark.requirement("P3", "U3")
@pytest.mark.parametrize("nothing", [*"-\u2013\u2014\u2212", "none", "None yet", "n/a", ""])
def test_a_dash_of_any_kind_is_no_dependency(nothing: str) -> None:
    table = f"| ID | Task | Depends on |\n|--|--|--|\n| C1 | Cut | {nothing} |\n| C2 | Sew | C1 |\n"
    assert [len(task.depends) for task in read_plan(table).tasks] == [0, 1]


@pytest.mark.requirement("P3", "U3")
def test_a_task_below_a_heading_of_its_level_does_not_stand_below_that() -> None:
    plan = read_plan("# Sails\n\n## Rules\n\nNo paint.\n\n## 1. Cut\n\na\n\n## 2. Sew\n\nb\n")
    assert [task.section for task in plan.tasks] == ["", ""]
    assert "No paint." in plan.description
