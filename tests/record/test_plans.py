"""Steps of plans are open until something shows that they were taken; what did is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import sections_of
from holdfast.record import Record, open_items
from holdfast.record.plans import MOST_STEPS
from holdfast.record.turns import turn_number
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B13")
BOXES = "# Tides\n\n- [x] Read the gauges\n- [ ] Write the parser\n- [ ] Print the heights\n"
NUMBERED = "# Tides\n\n1. Write the parser\n2. Print the heights\n"
HEADED = "# Tides\n\n## Step 1: Write the parser\ntext\n\n## Step 2: Print the heights\ntext\n"
IN_A_LIST = (
    "Here is my plan:\n\n1. Write the parser\n2. Print the heights\n\nI begin with the first."
)
IN_ONE_LINE = "Plan: 1. Write the parser 2. Print the heights"
APPROVED = "User has approved your plan."


def planned(plan: str) -> Session:
    return Session().user("Make a tide table.").calls("ExitPlanMode", APPROVED, plan=plan)


def still(record: Record) -> list[str]:
    return [step.text for step in open_items.steps(record)]


@pytest.mark.parametrize("plan", [BOXES, NUMBERED, HEADED])
def test_steps_of_an_approved_plan_stay_open_over_hundreds_of_steps(
    plan: str, tmp_path: Path
) -> None:
    session = planned(plan)
    for number in range(60):
        session.runs(f"make part{number}").works(4)
        if number % 20 == 0:
            session.compacts()
    record = session.starts("Bash", command="make").user("and mind the swell").record(tmp_path)
    words = " ".join(still(record))
    assert "Write the parser" in words and "Print the heights" in words
    assert "Read the gauges" not in words
    assert {turn_number(record, step.place) for step in open_items.steps(record)} == {1}


@pytest.mark.parametrize("words", [IN_A_LIST, IN_ONE_LINE])
def test_steps_of_a_plan_in_prose_stay_open(words: str, tmp_path: Path) -> None:
    session = Session().user("First.").says("ok").user("Make a tide table.").says(words)
    session.runs("make all").works(200).user("go on").works(100)
    record = session.record(tmp_path)
    assert still(record) == ["Write the parser", "Print the heights"]
    assert {turn_number(record, step.place) for step in open_items.steps(record)} == {2}


@pytest.mark.parametrize(
    "words",
    [
        "What I found:\n\n1. The gauge drifts\n2. The clock is late",
        "Is this the plan?",
        "The plan is good.\n\nIt has two colours:\n- red\n- blue",
        "The steps of the stairs are wet. 1. floor, 2 cats",
    ],
)
def test_a_list_that_nothing_announces_is_no_plan(words: str, tmp_path: Path) -> None:
    assert still(Session().user("Look.").says(words).record(tmp_path)) == []


def test_a_ticked_line_closes_its_step_and_is_kept_as_the_evidence(tmp_path: Path) -> None:
    session = planned(BOXES).runs("make").says("- ✅ Write the parser\n- Print the heights: next")
    record = session.record(tmp_path)
    assert still(record) == ["Print the heights"]
    [closed] = [one for one in record.tasks.values() if one.closed_by]
    assert (closed.text, closed.closed_by) == ("Write the parser", "“- ✅ Write the parser”")


def test_a_report_by_name_closes_the_step_it_names(tmp_path: Path) -> None:
    session = Session().user("Make a tide table.").says(IN_A_LIST).user("go on").runs("make all")
    session.says("The parser is written: done.").user("thanks")
    record = session.record(tmp_path)
    assert still(record) == ["Print the heights"]
    [closed] = [one for one in record.tasks.values() if one.closed_by]
    assert closed.closed_by == "“The parser is written: done.”"


@pytest.mark.parametrize(
    "report",
    [
        "The parser is not done yet.",
        "Parser and heights: none works, they are not done.",
        "Shall I go on until everything is done?",
        "The parser is still missing.",
        "I looked at the parser.",
    ],
)
def test_words_that_report_nothing_close_nothing(report: str, tmp_path: Path) -> None:
    session = Session().user("Make a tide table.").says(IN_A_LIST).user("go on").runs("make all")
    record = session.says(report).user("hm").record(tmp_path)
    assert still(record) == ["Write the parser", "Print the heights"]


@pytest.mark.parametrize("plan", [IN_A_LIST, NUMBERED])
@pytest.mark.parametrize(
    "words",
    ["Shall I go on until everything is done?", "The parser is written. Shall I go on?"],
)
def test_a_turn_that_ends_in_an_offer_to_go_on_closes_no_plan(
    plan: str, words: str, tmp_path: Path
) -> None:
    session = planned(plan) if plan == NUMBERED else Session().user("Go.").says(plan)
    record = session.runs("make all").says(words).user("yes").record(tmp_path)
    assert "Print the heights" in still(record)


def test_a_plan_that_was_carried_out_is_not_told_as_pending(tmp_path: Path) -> None:
    session = planned(HEADED).edits("/work/project/parse.py").runs("make test", "ok")
    session.says("The tide table is there: parser and printer work.").user("Nice. Now the moon.")
    record = session.says("The moon is drawn.").record(tmp_path)
    assert still(record) == []
    assert all(step.closed_by for step in record.tasks.values())
    [step] = sections_of(record)["Next Steps"]
    assert step.startswith("nothing open: last asked “Nice. Now the moon.”")


def test_a_plan_whose_turn_was_interrupted_stays_open(tmp_path: Path) -> None:
    session = planned(NUMBERED).edits("/work/project/parse.py").says("Now the heights.")
    session.user("[Request interrupted by user]").user("wait, what time is it?")
    assert still(session.record(tmp_path)) == ["Write the parser", "Print the heights"]


def test_a_plan_that_was_refused_has_no_steps(tmp_path: Path) -> None:
    rejected = "The user doesn't want to proceed with this tool use."
    session = Session().user("Make a tide table.")
    session.calls("ExitPlanMode", rejected, error=True, copy="User rejected", plan=NUMBERED)
    assert still(session.record(tmp_path)) == []


def test_a_task_list_made_after_a_plan_stands_for_it(tmp_path: Path) -> None:
    session = planned(NUMBERED).calls("TaskCreate", "Task #1 created", subject="Write the parser")
    assert still(session.record(tmp_path)) == []


@pytest.mark.requirement("X7")
def test_the_number_of_steps_is_bounded(tmp_path: Path) -> None:
    session = Session().user("Plan.")
    for number in range(30):
        steps = "\n".join(f"{n}. step {n} of plan {number}" for n in range(1, 40))
        session.says(f"The plan:\n\n{steps}")
    assert len(session.record(tmp_path).tasks) <= MOST_STEPS


def test_steps_that_begin_with_a_verb_in_ed_are_steps(tmp_path: Path) -> None:
    session = Session().user("Go on with the tables, please, all of them.")
    session.says("Plan:\n1. Seed the database\n2. Embed the map\n3. Added the docs")
    steps = [one.text for one in session.record(tmp_path).tasks.values()]
    assert steps == ["Seed the database", "Embed the map"]


def test_a_plan_that_could_not_be_begun_stays_open(tmp_path: Path) -> None:
    session = Session().user("Go on with the tables, please, all of them.")
    session.calls("ExitPlanMode", "approved", plan="1. Draw the moon\n2. Print the moon")
    session.runs("cargo new moon", "error: No space left on device", fails=True)
    session.says("I had to end here: the disk is full.").user("And now the tides, please.")
    assert [one.is_open for one in session.record(tmp_path).tasks.values()] == [True, True]


def test_a_status_table_of_ticks_closes_nothing_it_does_not_name(tmp_path: Path) -> None:
    session = Session().user("Go on with the tables, please, all of them.")
    session.says("Plan:\n" + "\n".join(f"{n}. Draw harbour {n} of the coast" for n in range(1, 41)))
    for _ in range(20):
        session.says("| file3 | checked ✅ |\n" * 500)
    record = session.record(tmp_path)
    assert sum(one.is_open for one in record.tasks.values()) == 40


@pytest.mark.parametrize(
    "words",
    [
        "So: First write the parser, then print the heights, and finally draw the curve.",
        "Zuerst write the parser, dann print the heights, zuletzt draw the curve.",
    ],
)
def test_a_plan_told_in_one_sentence_is_a_plan(words: str, tmp_path: Path) -> None:
    record = Session().user("Make a tide table.").says(words).runs("make").record(tmp_path)
    assert still(record) == ["write the parser", "print the heights", "draw the curve"]


@pytest.mark.parametrize(
    "report",
    [
        "The parser is written and done.",
        "The second of them is done: Write the parser.",
        "Write the parser: erledigt.",
    ],
)
def test_a_step_reported_in_the_middle_of_a_turn_is_closed_with_the_report(
    report: str, tmp_path: Path
) -> None:
    session = Session().user("Make a tide table.").says(IN_A_LIST).runs("make parser")
    session.says(f"{report} Its tests pass.").runs("make").works(3)
    record = session.record(tmp_path)
    assert still(record) == ["Print the heights"]
    [closed] = [one for one in record.tasks.values() if not one.is_open]
    assert closed.closed_by == f"“{report}”"


@pytest.mark.parametrize(
    "words",
    [
        "Once we write the parser and it is done, I go on.",
        "Write the parser: not done yet.",
        "Is the parser done, shall I write more?",
        "The reader of the gauges is done.",
    ],
)
def test_a_sentence_that_reports_nothing_closes_no_step(words: str, tmp_path: Path) -> None:
    session = Session().user("Make a tide table.").says(IN_A_LIST).runs("make parser")
    record = session.says(words).runs("make").record(tmp_path)
    assert still(record) == ["Write the parser", "Print the heights"]
