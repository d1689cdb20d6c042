"""Steps of plans are open until something shows that they were taken; what did is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
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


@pytest.mark.slow
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
        "Steps to reproduce:\n1. open the lock\n2. wait for the tide",
        "The plan handles both:\n1. a full lock\n2. an empty lock",
        "The steps for the lock are wet. I saw:\n1. two boats\n2. one buoy",
    ],
)
def test_a_list_that_nothing_announces_is_no_plan(words: str, tmp_path: Path) -> None:
    assert still(Session().user("Look.").says(words).record(tmp_path)) == []


@pytest.mark.parametrize(
    "lead",
    [
        "Plan for the tide table:",
        "I have seen enough. My plan, in this folder:",
        "**Next steps to get there:**",
        "## Steps (short)",
        "Schritte für die Tafel:",
    ],
)
def test_a_noun_with_what_it_is_for_announces_a_plan(lead: str, tmp_path: Path) -> None:
    said = f"{lead}\n1. Write the parser\n2. Print the heights"
    session = Session().user("Make a tide table.").says(said).runs("ls").queues("mind the swell")
    record = session.works(3).user("mind the swell").works(3).record(tmp_path)
    assert still(record) == ["Write the parser", "Print the heights"]


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


@pytest.mark.slow
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


PLAN = """Implement the following plan:

# Tides

## Context
1. Gauges drift
2. Clocks are late

### 1. Write the parser
Modify `src/parser.py`, as in `docs/heights.md`.

### 2. Print the heights in `src/print.py`
text

## Verification
1. `pytest tests/` passes
2. **Manual**: look at the quay at noon and compare the heights
- [Tide tables](https://tides.example)
"""
CHECK = "Manual: look at the quay at noon and compare the heights"


def carried_out(*files: str, words: str = "Both are written, tides are shown.") -> Session:
    session = Session().user(PLAN)
    for name in files:
        session.edits(f"/work/project/{name}")
    return session.runs("pytest tests/ -q 2>&1 | tail -3", "9 passed").says(words)


def test_a_plan_that_the_client_puts_into_the_prompt_is_a_plan(tmp_path: Path) -> None:
    assert still(Session().user(PLAN).record(tmp_path)) == [
        "1. Write the parser",
        "2. Print the heights in src/print.py",
        "`pytest tests/` passes",
        CHECK,
    ]


def test_the_checks_of_a_plan_are_closed_by_a_run_and_not_by_the_end_of_the_turn(
    tmp_path: Path,
) -> None:
    session = carried_out("src/parser.py", "src/print.py")
    assert still(session.record(tmp_path)) == [CHECK]
    record = session.user("Thanks.").says("Welcome.").record(tmp_path)
    assert still(record) == [CHECK]
    assert sections_of(record)["Next Steps"] == [
        "nothing open: last asked “Thanks.”, answered “Welcome.”",
        f"for a person to check (since turn 1): {CHECK}",
    ]
    [closed] = [one for one in record.tasks.values() if one.is_check and not one.is_open]
    assert closed.closed_by == "pytest tests/ -q passed"


def test_a_step_whose_files_nobody_touched_stays_open(tmp_path: Path) -> None:
    session = carried_out("src/parser.py")
    for after in (session, session.user("commit").says("Committed.")):
        assert still(after.record(tmp_path)) == ["2. Print the heights in src/print.py", CHECK]


def test_closing_words_that_tick_some_steps_leave_the_others_open(tmp_path: Path) -> None:
    words = "✅ Write the parser\nThe heights come tomorrow."
    session = planned(NUMBERED).runs("make").says(words).user("ok")
    assert still(session.record(tmp_path)) == ["Print the heights"]


@pytest.mark.parametrize(
    ("name", "text", "steps"),
    [
        ("docs/plans/tides.md", HEADED, ["Step 1: Write the parser", "Step 2: Print the heights"]),
        ("PLAN.md", BOXES, ["Write the parser", "Print the heights"]),
        ("docs/plans/tides.md", NUMBERED, []),
        ("docs/tides.md", BOXES, []),
        ("src/plan.py", BOXES, []),
    ],
)
def test_a_plan_file_is_open_while_its_turn_is(
    name: str, text: str, steps: list[str], tmp_path: Path
) -> None:
    session = Session().user("Plan the tide table, then make it.")
    session.calls("Write", file_path=f"/work/project/{name}", content=text).runs("ls")
    assert still(session.record(tmp_path)) == steps
    assert still(session.says("The plan is written.").record(tmp_path)) == []


def test_a_plan_is_carried_out_over_a_turn_that_was_stopped(tmp_path: Path) -> None:
    session = (
        Session().user(PLAN).starts("Bash", command="ls").user("[Request interrupted by user]")
    )
    session.user("continue").edits("/work/project/src/print.py").says("All of it is there.")
    assert still(session.record(tmp_path)) == ["`pytest tests/` passes", CHECK]


@pytest.mark.parametrize(
    ("check", "line"),
    [
        ("`npm run lint` is clean", "npm run build && npm run lint"),
        ("`npm run typecheck` — no type errors at all", "npm run typecheck"),
        ("All tests pass", "uv run pytest -q"),
        ("All tests pass", "npm run build && npm test"),
        ("Commit the table", "git commit -m tides"),
        ("Deploy: `quay deploy --only tides`", "quay deploy --only tides:high,tides:low"),
    ],
)
def test_a_check_is_closed_by_the_run_it_asks_for(check: str, line: str, tmp_path: Path) -> None:
    session = planned(f"# Tides\n\n## Verification\n- {check}\n- Manual: lint and test it\n")
    output = "[main 1a2b3c4] tides" if "commit" in line else "ok"
    assert len(still(session.record(tmp_path))) == 2
    assert still(session.runs(line, output).record(tmp_path)) == ["Manual: lint and test it"]


def test_a_check_that_asks_to_look_is_not_closed_by_its_command(tmp_path: Path) -> None:
    check = "Run `quay serve`, open the page and see that all tides are there"
    session = planned(f"# Tides\n\n## Verification\n- {check}\n").runs("quay serve", "listening")
    assert still(session.record(tmp_path)) == [check]


def test_a_check_is_closed_by_words_that_tell_of_its_run(tmp_path: Path) -> None:
    plan = "# Tides\n\n## Verification\n- `npm run lint` is clean\n- `npm test` passes\n"
    session = planned(plan).says("Tests, lint: all clean. But npm test has not run yet.")
    assert still(session.record(tmp_path)) == []
    session = planned(plan).says("The lint is clean. The tests still fail.")
    assert still(session.record(tmp_path)) == ["`npm test` passes"]


def test_several_numbered_lists_are_no_steps(tmp_path: Path) -> None:
    lists = "# Tides\n\nToday:\n1. Read\n2. Write\n\nThen:\n1. Eat\n2. Sleep\n"
    assert still(planned(lists).record(tmp_path)) == []


def test_checks_of_a_plan_take_one_line_of_a_brief(tmp_path: Path) -> None:
    checks = "\n".join(f"- Manual: look at the quay at {hour} o'clock" for hour in range(8, 13))
    session = planned(f"# Tides\n\n## Verification\n{checks}\n").starts("Bash", command="make")
    text = compose(session.record(tmp_path)).text
    [line] = [line for line in text.splitlines() if "not checked yet" in line]
    assert "at 8 o'clock; " in line and line.endswith("and 2 more (since turn 1)")


def test_a_step_before_one_that_is_done_is_done_too(tmp_path: Path) -> None:
    plan = "# Tides\n\n1. Write the parser\n2. Print the heights\n3. Paint the boat\n"
    session = planned(plan).runs("make").says("The work goes on, some of it is still open.")
    session.user("and?").runs("make").says("Print the heights: done.")
    assert still(session.record(tmp_path)) == ["Paint the boat"]


def test_words_that_a_step_is_made_of_do_not_call_it_unfinished(tmp_path: Path) -> None:
    plan = "### 1. Handle failed gauges\ntext\n### 2. Show the pending tides\ntext"
    words = "All checks pass. A failed gauge is told now, and so are pending tides."
    session = planned(plan).edits("/work/project/src/gauge.py").says(words)
    assert still(session.record(tmp_path)) == []
    session = planned(plan).edits("/work/project/src/gauge.py").says("The build is blocked.")
    assert len(still(session.record(tmp_path))) == 2


def test_checks_for_a_person_are_one_line_and_runs_are_steps(tmp_path: Path) -> None:
    checks = "\n".join(["- `make test` passes", *(f"- Look at gauge {n}" for n in range(8))])
    session = planned(f"1. Paint\n2. Moor\n## Verification\n{checks}").edits("/work/project/a.py")
    steps = sections_of(session.says("Painted and moored.").record(tmp_path))["Next Steps"]
    assert steps[0] == "`make test` passes (planned, since turn 1)"
    [told] = steps[1:]
    assert told.startswith("for a person to check (since turn 1): Look at gauge 2; ")
    assert told.endswith("Look at gauge 7 and 2 more")


ADVICE = "### Next\n\n1. Install the new gauge\n2. Delete the old heights"


@pytest.mark.parametrize(
    "words", ["Why does the gauge drift at night, and only in the north?", "?"]
)
def test_steps_that_close_a_turn_are_advice_unless_the_user_takes_them_up(
    words: str, tmp_path: Path
) -> None:
    session = Session().user("Why is it late?").says(f"The gauge is old.\n\n{ADVICE}")
    text = compose(session.record(tmp_path)).text
    assert "proposed to the user: Install the new gauge" in text and "planned: " not in text
    assert still(session.user(words).works(2).record(tmp_path)) == []
    taken = Session().user("Why is it late?").says(ADVICE).user("do both").works(2)
    assert len(still(taken.record(tmp_path))) == 2


def test_what_the_user_is_told_to_do_next_is_no_plan_of_the_model(tmp_path: Path) -> None:
    words = "What you need to do next:\n\n1. Install the gauge\n2. Delete the heights"
    session = Session().user("Look.").says(words).runs("make all")
    assert still(session.record(tmp_path)) == []


def todos(session: Session, **status: str) -> Session:
    given = [{"content": name.replace("_", " "), "status": how} for name, how in status.items()]
    return session.calls("TodoWrite", "ok", todos=given)


@pytest.mark.parametrize("plan", [NUMBERED, IN_A_LIST])
def test_a_step_that_an_older_task_list_called_completed_is_done(plan: str, tmp_path: Path) -> None:
    session = planned(plan) if plan is NUMBERED else Session().user("Make it.").says(plan)
    todos(session, Write_the_tide_parser="in_progress", Print_the_heights="pending")
    todos(session, Write_the_tide_parser="completed", Print_the_heights="pending")
    session.calls("TodoWrite", "ok", todos=[]).runs("make part1")
    record = session.starts("Bash", command="make").record(tmp_path)
    assert still(record) == ["Print the heights"]
    [step] = [one for one in record.tasks.values() if not one.is_open]
    assert step.closed_by == "TodoWrite at step 3: completed"


def test_a_plan_is_done_with_the_whole_task_list_that_was_made_for_it(tmp_path: Path) -> None:
    session = planned("# Tides\n\n1. Lay the keel\n2. Paint the hull\n")
    todos(session, Cut_timber="in_progress", Brush="pending")
    todos(session, Cut_timber="completed", Brush="completed")
    session.calls("TodoWrite", "ok", todos=[]).runs("make part1")
    record = session.starts("Bash", command="make").record(tmp_path)
    assert still(record) == []
    assert {one.closed_by for one in record.tasks.values()} == {
        "TodoWrite at step 3: all 2 tasks completed"
    }


def test_a_task_that_was_not_completed_leaves_the_step_open(tmp_path: Path) -> None:
    session = planned(NUMBERED)
    todos(session, Write_the_parser="completed", Print_the_heights="in_progress")
    session.calls("TodoWrite", "<tool_use_error>no</tool_use_error>", error=True, todos=[])
    session.calls("TodoWrite", "ok", todos=[])
    assert still(session.starts("Bash", command="make").record(tmp_path)) == ["Print the heights"]
