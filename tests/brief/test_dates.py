"""What is at hand comes first, and what is quoted carries its date."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.budget.ledger import USER, Ledger, Pin
from tests.checkpoint.sessions import UNMARKING, Session
from tests.transcript import builders as b

CURRENT = b.ENVELOPE["version"]
REQUEST = "Please make the importer read files with a byte order mark, and test it."
FIRST_GUESS = "The mark is lost in the reader, because it decodes as latin-1."
FINDING = "The mark is lost in the writer: the reader decodes it rightly."


def text_of(session: Session, folder: Path, max_tokens: int = 4000) -> str:
    return compose(session.record(folder), max_tokens).text


def earlier(version: str = CURRENT) -> Session:
    """A request that was answered, before the current one."""
    session = Session(version).user(REQUEST).says(FIRST_GUESS).runs("make tides", "1 failed")
    return session.says("The importer reads the mark now, the test passes, and so does make.")


@pytest.mark.requirement("B4", "B11")
def test_pins_come_first_then_what_waits_then_the_last_request(tmp_path: Path) -> None:
    session = earlier(UNMARKING).user("Now the writer.").says(FINDING).runs("make tides")
    record = session.queues("mind the swell").record(tmp_path)
    pin = Pin("p1", "Money is integer cents.", by=USER)
    text = compose(record, 4000, budget=Ledger(pins=(pin,))).text
    order = (
        "Money is integer cents.",
        "mind the swell",
        "Now the writer.",
        "## Where the work stood",
        REQUEST,
    )
    places = [text.index(words) for words in order]
    assert places == sorted(places)


@pytest.mark.requirement("B13")
def test_remarks_carry_their_turn_and_step_until_the_request_is_answered(tmp_path: Path) -> None:
    session = earlier().user("Now the writer.").says(FINDING).runs("make tides").says("Mended,")
    text = text_of(session.runs("make moon"), tmp_path)
    assert f"- turn 2, step 4: {FINDING}\n" in text and FIRST_GUESS not in text


@pytest.mark.requirement("B13")
def test_what_the_model_said_at_work_takes_little_of_a_brief(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    for number in range(60):
        session.says(f"Gauge {number} stands {number} cells too far to the left, all by hand.")
        session.runs(f"make gauge-{number}")
    for more in ("", "Now the writer."):
        text = text_of(session.user(more) if more else session, tmp_path)
        said = text.partition("## The model's own words")[2].partition("\n## ")[0]
        assert "turn 1, step 117: Gauge 58 stands" in said
        assert len(said) < 0.2 * 3.5 * 5_000


@pytest.mark.requirement("B13")
def test_of_outputs_before_edits_only_the_newest_two_checks_are_shown(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    for number in range(9):
        session.runs(f"make gauge-{number}", f"gauge {number} ok")
        session.runs("ls", "what is old").edits(f"/work/project/gauge_{number}.py")
    stood = text_of(session, tmp_path).partition("## Where the work stood")[2].partition("\n## ")[0]
    assert "`make gauge-8` printed at step 25, 1 edit since: gauge 8 ok" in stood
    assert "gauge 6 ok" not in stood


@pytest.mark.requirement("B13")
@pytest.mark.parametrize("answer", ["Mended.", "The reports say that no gauge drifts at all."])
def test_a_longer_answer_stands_for_the_reports_before_it(answer: str, tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    session.calls("Task", "No gauge drifts.", subagent_type="Explore", description="Find drifts")
    text = text_of(session.says(answer).user("Now the writer."), tmp_path)
    assert ("## Subagents" in text) == (answer == "Mended.")


@pytest.mark.requirement("B13")
def test_a_failure_whose_program_ran_again_takes_one_line_with_the_newer_output(
    tmp_path: Path,
) -> None:
    printed = "Exit code 1\ntests/test_tide.py:7: AssertionError: ebb is not flood"
    session = Session().user(REQUEST).runs("pytest -v 2>&1", printed, fails=True)
    text = text_of(session.runs("pytest -v 2>&1 | tail -1", "35 passed in 0.07s"), tmp_path)
    failed = text.partition("## Failed, and not seen to succeed since\n")[2].partition("\n## ")[0]
    assert "printed at step 2: 35 passed in 0.07s" in failed and "test_tide.py:7" in failed
    assert "\n" not in failed


@pytest.mark.requirement("B6")
def test_a_report_that_the_first_brief_had_is_not_in_the_second(tmp_path: Path) -> None:
    path = "/home/sam/tide-tables/tide_tables/gauges/harbour_of_the_north/readings.py"
    report = f"Location: `{path}` **All of them drift.** " + "The gauge drifts. " * 90
    session = Session().user(REQUEST)
    session.calls("Task", report, subagent_type="Explore", description="Find the gauges")
    record = session.record(tmp_path)
    first = compose(record, 4000, given="").text
    assert "All of them drift" in first
    assert "Find the gauges" not in compose(record, 2000, given=first).text
