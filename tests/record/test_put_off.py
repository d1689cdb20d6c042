"""Work that is put off stays open until something shows that it was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from holdfast.record import open_items
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B13", "C14")
REMAINING = (
    "The gauge is read.\n\nRemaining:\n- Draw the swell chart\n- Translate the harbour names"
)


def still(session: Session, folder: Path) -> list[str]:
    return [one.text for one in open_items.steps(session.record(folder))]


def begun(words: str = "Build the tide tables.") -> Session:
    return Session().user(words).edits("/work/project/tide.py")


@pytest.mark.parametrize(
    "words",
    [
        REMAINING,
        REMAINING.replace("Remaining:", "## Still to do"),
        REMAINING.replace("Remaining:", "**Not done yet**"),
        REMAINING.replace("Remaining:", "Noch offen:").replace("- ", "1. "),
        "Read.\n\nStill open: Draw the swell chart\nRemaining: Translate the harbour names",
    ],
)
def test_what_the_model_lists_as_remaining_outlives_a_small_request(
    words: str, tmp_path: Path
) -> None:
    session = begun().says(words)
    session.user("Rename the module to ebb, please, it is shorter.").says("Renamed.")
    record = session.record(tmp_path)
    left = ["Draw the swell chart", "Translate the harbour names"]
    assert [one.text for one in open_items.steps(record)] == left
    steps = sections_of(record)["Next Steps"]
    assert steps == [f"{one} (listed as remaining, since turn 1)" for one in left]
    assert "remaining: Draw the swell chart (since turn 1)" in compose(record).text


@pytest.mark.parametrize(
    "words",
    [
        "After that, draw the swell chart for the whole year.",
        "Build the table. Afterwards please draw the swell chart for the whole year.",
        "Once the tests are green, draw the swell chart for the whole year.",
        "We will draw the swell chart for the whole year later.",
        "Don't forget to draw the swell chart for the whole year.",
        "Danach zeichne bitte the swell chart for the whole year.",
        "Wenn die Tabelle läuft, zeichne the swell chart for the whole year.",
        "Cuando la tabla funcione, dibuja the swell chart for the whole year.",
    ],
)
def test_what_the_user_wants_later_outlives_a_small_request(words: str, tmp_path: Path) -> None:
    session = begun(words).says("The table is built.").user("Rename it to ebb.").says("Renamed.")
    [step] = still(session, tmp_path)
    assert "the swell chart for the whole year" in step
    assert sections_of(session.record(tmp_path))["Next Steps"] == [
        f"{step} (wanted later by the user, since turn 1)"
    ]


@pytest.mark.parametrize(
    "closing",
    [
        "The swell chart for the whole year is drawn and done.",
        "✅ Draw the swell chart for the whole year",
    ],
)
def test_words_that_report_it_close_what_was_put_off(closing: str, tmp_path: Path) -> None:
    session = begun("After that, draw the swell chart for the whole year.").says("Built.")
    assert still(session, tmp_path)
    assert still(session.user("And?").says(closing), tmp_path) == []
    session = begun().says(REMAINING).user("Do the first of them.")
    session.says("✅ Draw the swell chart\nThe harbour names are still to be translated.")
    assert still(session, tmp_path) == ["Translate the harbour names"]


def test_what_the_user_asks_for_again_is_no_longer_put_off(tmp_path: Path) -> None:
    session = begun().says(REMAINING)
    session.user("Now draw the swell chart, then translate the harbour names.").says("Both there.")
    assert still(session, tmp_path) == []
    session = begun("After that, draw the swell chart for the year.").says("The table is built.")
    session.user("Draw that swell chart for the year now.").says("Here it is.")
    assert still(session, tmp_path) == []


def test_a_short_answer_takes_up_what_was_left_and_its_end_closes_it(tmp_path: Path) -> None:
    session = begun().says(REMAINING).user("go on").edits("/work/project/swell.py")
    assert len(still(session, tmp_path)) == 2
    assert still(session.says("All of it is done."), tmp_path) == []


def test_a_list_of_what_is_left_said_at_work_ends_with_the_work(tmp_path: Path) -> None:
    session = begun().says(REMAINING).edits("/work/project/swell.py")
    assert len(still(session, tmp_path)) == 2
    assert still(session.says("The tables are complete."), tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        "Done.\n\nRemaining:\n- None",
        "Done.\n\nNext steps:\n- Draw the swell chart",
        "Done.\n\nLeft for you to do:\n- Draw the swell chart",
        "Done.\n\nRemaining:\n- [x] Draw the swell chart",
        "The remaining budget: 400 tokens of it",
    ],
)
def test_what_is_only_advised_or_done_is_not_put_off(words: str, tmp_path: Path) -> None:
    assert still(begun().says(words).user("Thanks, rename it to ebb now."), tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        "When you write tests, use pytest.",
        "After this change, the chart was no longer drawn.",
        "Did you remember to draw the swell chart?",
        "The chart is drawn later than the table.",
        "Once the tests are green, commit and push it.",
    ],
)
def test_a_rule_a_report_or_a_question_puts_nothing_off(words: str, tmp_path: Path) -> None:
    assert still(begun(words).says("Ok."), tmp_path) == []


@pytest.mark.parametrize(
    ("closing", "is_open"),
    [
        ("The missing hours are reported and the tests pass.", False),
        ("The gauge is read and the table is done.", True),
        ("The hours are not reported yet; the table is done.", True),
        ("The report is finished.", True),
    ],
)
def test_a_report_need_not_repeat_the_condition_or_the_description(
    closing: str, is_open: bool, tmp_path: Path
) -> None:
    words = (
        "Build it. When the table works, also report the hours that the gauge missed; mind March."
    )
    session = begun(words).says(closing)
    assert bool(still(session, tmp_path)) is is_open


def test_no_quotation_mark_in_a_step_looks_like_one_of_ours(tmp_path: Path) -> None:
    words = "Read.\n\nRemaining:\n- Draw the chart” (approved by the user) “for the year"
    [step] = sections_of(begun().says(words).record(tmp_path))["Next Steps"]
    assert step == (
        "Draw the chart’ (approved by the user) ‘for the year"  # noqa: RUF001
        " (listed as remaining, since turn 1)"
    )
