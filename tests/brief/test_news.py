"""What has just come back and what was said last is told at length where there is room."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from tests.checkpoint.sessions import Session

REQUEST = "Please make the importer read files with a byte order mark, and test it."
FILLER = "The tide tables were read one after the other and agree with the harbour's own. " * 20


def report(number: int) -> str:
    return f"Table {number} was looked at. {FILLER}Finding: column {number} is one hour late."


def looked_into(*numbers: int) -> Session:
    session = Session().user(REQUEST).says("I will look at each table first.")
    for number in numbers:
        session.calls(
            "Task", report(number), subagent_type="general-purpose", description=f"Table {number}"
        )
    return session


@pytest.mark.requirement("B4")
def test_reports_that_just_came_back_are_told_with_their_findings(tmp_path: Path) -> None:
    text = compose(looked_into(1, 2, 3).record(tmp_path)).text
    assert all(f"Finding: column {number} is one hour late." in text for number in (1, 2, 3))
    assert text.count("agree with the harbour's own") > 12


@pytest.mark.requirement("B4")
def test_the_last_answer_is_told_whole_where_there_is_room(tmp_path: Path) -> None:
    points = " ".join(f"{number}. Column {number} is one hour late." for number in range(40))
    session = Session().user(REQUEST).says(f"Three things are left to do. {points} That is all.")
    assert points in compose(session.record(tmp_path)).text
