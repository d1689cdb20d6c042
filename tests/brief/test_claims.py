"""What a summary calls done although the transcript says otherwise."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.done_claims import find_contradictions
from holdfast.brief.summary_passages import passages
from holdfast.record.model import Record
from tests.checkpoint.sessions import Session


@pytest.mark.requirement("B6")
def test_two_false_claims_in_one_sentence_are_two_flags(tmp_path: Path) -> None:
    session = Session().user("Please finish the ledger.")
    session.runs("pytest tests/test_ledger.py", "FAILED tests/test_ledger.py::a", fails=True)
    session.calls("TaskCreate", "Task #1 created", subject="Write the ledger migration script")
    said = "The ledger migration script is done and pytest tests/test_ledger.py passes."
    found = find_contradictions(session.record(tmp_path), said)
    assert len(found) == 2
    assert any("last failed" in claim.evidence for claim in found)
    assert any("the task is not done but pending" in claim.evidence for claim in found)


@pytest.mark.requirement("B6")
def test_a_sentence_is_quoted_without_the_tags_of_the_client(tmp_path: Path) -> None:
    said = "<analysis>Short.</analysis>\n<summary>All tests pass now and it is done.</summary>"
    [claim] = find_contradictions(failing(tmp_path), said)
    assert claim.sentence == "All tests pass now and it is done."
    assert [one.text for one in passages(said)] == ["All tests pass now and it is done."]


def failing(folder: Path) -> Record:
    """Two runs failed last, one of another kind passed; one task is open, one done."""
    session = Session().user("Please fix the login.")
    said = "FAILED test_login.py::test_a - AssertionError: 1 != 2\n1 failed"
    session.runs("pytest -q", said, fails=True)
    said = "FAILED tests/test_login.py::test_b - KeyError: 'user'\n1 failed, 3 passed"
    session.runs("pytest -q tests/test_login.py", said, fails=True)
    session.runs("make lint", "ok")
    session.calls("TaskCreate", "Task #1 created", subject="Write the ledger migration script")
    session.calls("TaskCreate", "Task #2 created", subject="Rename the login form")
    session.calls("TaskUpdate", taskId="2", status="completed")
    return session.record(folder)


@pytest.mark.slow
@pytest.mark.requirement("B6")
@pytest.mark.parametrize(
    "said",
    [
        "All tests pass.",
        "All tests pass now, pytest is green and the login bug is fixed.",
        "2. login.py was edited. The tests are passing.",
        "- Tests: all passing",
        "1. Primary request: fix it.\n2. login.py was edited. All tests pass now, and it is fixed.",
        "`pytest -q` passes now.",
        "pytest -q tests/test_login.py now passes; test_b fixed.",
        "test_b is fixed.",
        "Fixed test_b with a default user.",
        "The failing test test_login.py::test_a was fixed and passes.",
        "The ledger migration script is done.",
        "- ✅ Write the ledger migration script",
        "- Write the ledger migration script (COMPLETED)",
        "Wrote it: the ledger migration script was written on Monday.",
        "Finished the ledger migration script after the failover.",
        "The ledger migration script: erledigt.",
        "The problem with `pytest -q` has been resolved.",
        "test_b no longer fails.",
        "The login tests pass now.",
        "Resolved the KeyError of the user in test_b.",
        "The ledger migration script has been taken care of.",
        "pytest -q tests/test_login.py: passing",
        "I resolved the KeyError of the login.",
        "The full suite passes.",
        "There are no failing tests left.",
        "Die Tests laufen jetzt alle durch.",
        "Todas las pruebas pasan.",
        "All tasks on the list were finished.",
        "All todo items are complete.",
        "Nothing is left on the task list.",
    ],
)
def test_what_is_called_done_and_is_not_is_flagged(said: str, tmp_path: Path) -> None:
    assert find_contradictions(
        failing(tmp_path), f"Summary:\n{said}\nThe login form has two fields."
    )


@pytest.mark.requirement("B6")
@pytest.mark.parametrize("command", ["python3 -m unittest", "node --test", "./run_tests.sh"])
def test_all_tests_pass_is_flagged_whatever_ran_them(command: str, tmp_path: Path) -> None:
    session = Session().user("Fix the ledger.").runs(command, "FAIL: test_sum", fails=True)
    [claim] = find_contradictions(session.record(tmp_path), "All tests pass.")
    assert command in claim.evidence


@pytest.mark.slow
@pytest.mark.requirement("B6")
@pytest.mark.parametrize(
    "said",
    [
        "Next: make all tests pass.",
        "The tests still fail.",
        "test_b will be fixed.",
        "test_b is not fixed yet.",
        "Run all tests to see whether they pass.",
        "Once all tests pass, commit.",
        "pytest -q: 1 failed, 3 passed",
        "`make lint` passes.",
        "`pytest -q tests/test_form.py` passes.",
        "pytest -q tests/test_form.py passes.",
        "test_c is fixed.",
        "The unit tests pass.",
        "All tests pass in tests/test_form.py.",
        "The login form was renamed and is done.",
        "Write the ledger migration script",
        "Complete the ledger migration script.",
        "Pending Tasks:\n- ledger migration script, all tests passing",
        "5. All user messages:\n   - all tests pass, the ledger migration script is done",
        "All user messages:\n- all tests pass, the ledger migration script is done",
        'The user said:\n"All tests pass."',
        "```\nAll tests pass.\n```",
        "All 13 tests passed.",
        "The tests of the form pass.",
        "The script for pass-through of the ledger migration",
        "## Pending Tasks:\n- ledger migration script: implemented as a draft",
        "Ledger migration script: noch nicht erledigt.",
        'The user asked "is the ledger migration script done".',
        "I resolved the KeyError of the form.",
        "All tasks of the first phase are complete.",
        "Once all tasks are complete, commit.",
        "TODO: see that no tests fail",
        "There are no tests for the form.",
    ],
)
def test_what_is_not_called_done_or_is_done_is_not_flagged(said: str, tmp_path: Path) -> None:
    assert (
        find_contradictions(failing(tmp_path), f"Summary:\n{said}\nThe login form has two fields.")
        == []
    )


@pytest.mark.requirement("B6")
@pytest.mark.parametrize(
    ("said", "flags"),
    [
        ("The holiday route (expected 4 departures, got 3) is fixed.", 1),
        ("The holiday table is fixed.", 0),
        ("The timetable format is documented.", 1),
        ("The route is documented.", 0),
    ],
)
def test_a_test_is_known_by_its_words_and_a_task_without_its_path(
    said: str, flags: int, tmp_path: Path
) -> None:
    session = Session().user("Port the ferry planner.")
    task = "Document the timetable format in docs/timetable.md"
    session.calls("TaskCreate", "Task #1 created", subject=task)
    failed = "--- FAIL: TestHolidayRoute\n    planner_test.go:88: expected 4 departures, got 3"
    session.runs("go test ./planner/...", failed, fails=True)
    assert len(find_contradictions(session.record(tmp_path), f"Summary:\n{said}")) == flags


@pytest.mark.requirement("B6")
def test_a_flag_stands_whole_in_the_brief_and_not_among_the_users_words(tmp_path: Path) -> None:
    facts = failing(tmp_path)
    claims = find_contradictions(facts, "All tests pass.")
    facts.summary, facts.since_summary = "All tests pass.", 0
    text = compose(facts, 800, claims=claims).text
    stood = text.partition("## Where the work stood\n")[2].partition("\n## ")[0]
    assert stood.startswith("- the summary says “All tests pass.”, but `pytest -q tests")


@pytest.mark.requirement("B6")
def test_tests_that_passed_last_are_rightly_called_passing(tmp_path: Path) -> None:
    session = Session().runs("go test ./a", "--- FAIL: TestA", fails=True)
    session.runs("go test ./b", "ok")
    assert find_contradictions(session.record(tmp_path), "All tests pass.") == []


@pytest.mark.requirement("B6")
def test_a_step_that_was_worked_on_and_never_ticked_off_is_not_held_against_a_summary(
    tmp_path: Path,
) -> None:
    session = Session().user("Tidy the harbour.")
    session.calls("TaskCreate", "Task #1 created", subject="Add the buoyLightTimer function")
    session.calls("TaskCreate", "Task #2 created", subject="Run lint and tests")
    session.calls("TaskCreate", "Task #3 created", subject="Write tests for the mooring fees")
    session.edits("src/lights.py", "a = 1", "def buoyLightTimer(): ...")
    session.runs("make lint").runs("pytest tests").edits("tests/test_mooring_fees.py")
    said = "The buoyLightTimer function is done.\nLint and tests passed.\n"
    said += "Tests for the mooring fees are implemented."
    assert find_contradictions(session.record(tmp_path), said) == []


@pytest.mark.requirement("B6")
@pytest.mark.parametrize(
    "said",
    [
        "The task “paint the old crane in grey” has been completed.",
        "Finished: paint the old crane in grey.",
        "The old crane was painted grey, all done.",
    ],
)
def test_a_wish_of_which_nothing_was_heard_is_held_against_a_summary(
    said: str, tmp_path: Path
) -> None:
    session = Session().user("Tidy the harbour. Later paint the old crane in grey.")
    session.edits("src/lights.py").says("The lights are tidy.").user("Go on.").works(3)
    [claim] = find_contradictions(session.record(tmp_path), said)
    assert claim.evidence.startswith(
        "nothing since turn 1 tells that it is done: “Later paint the old crane"
    )


@pytest.mark.requirement("B6")
def test_a_wish_that_left_a_trace_is_not_held_against_a_summary(tmp_path: Path) -> None:
    for trace in (
        Session().user("Later paint the old crane in grey.").edits("src/crane.py"),
        Session().user("Later paint the old crane in grey.").says("Grey it is, the old crane."),
        Session().user("Later paint the old crane in grey.").says("ok").user("Crane is grey now."),
    ):
        assert (
            find_contradictions(trace.record(tmp_path), "The old crane is painted grey: done.")
            == []
        )


@pytest.mark.requirement("B6")
def test_what_the_model_listed_and_never_came_back_to_is_held_against_a_summary(
    tmp_path: Path,
) -> None:
    session = Session().user("Tidy the harbour.")
    session.says("The quay lacks these.\n- a rope locker beside the slipway\n- a lamp on the pier")
    session.runs("make lint").works(2)
    said = "A rope locker beside the slipway: implemented.\nThe rope locker by the slipway is done."
    [claim] = find_contradictions(session.record(tmp_path), said)
    assert "rope locker beside the slipway" in claim.evidence


@pytest.mark.requirement("B6")
def test_one_item_is_held_against_a_summary_once(tmp_path: Path) -> None:
    said = "The ledger migration script is done.\nCompleted the ledger migration script."
    assert len(find_contradictions(failing(tmp_path), said)) == 1


@pytest.mark.slow
def test_many_turns_in_the_same_words_are_compared_in_no_time(tmp_path: Path) -> None:
    session = Session()
    for part in range(200):
        session.user(f"Rename the billing column tables in part {part}. Paint the gauge {part}.")
        session.runs(f"pytest tests/test_column_{part}.py", "3 passed")
        session.says(f"Renamed the billing column tables in part {part}.")
    record = session.record(tmp_path)
    lines = (f"- The billing column tables renamed in part {part} are done." for part in range(200))
    begun = time.process_time()
    find_contradictions(record, "\n".join(lines))
    assert time.process_time() - begun < 2, "it took half a minute for 50 lines"
