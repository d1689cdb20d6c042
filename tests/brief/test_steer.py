"""The words for the summariser: short, and first what must not be lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.steer import steer
from holdfast.record.model import Record
from tests.checkpoint.sessions import Session


@pytest.mark.requirement("B1")
def test_it_names_what_to_keep_word_for_word(tmp_path: Path) -> None:
    session = (
        Session().user("Never use eval.").user("Make the importer read odd files, and test it.")
    )
    session.runs("pytest -q", "E  KeyError: 'bom'", fails=True).starts("Bash", command="make all")
    text = steer(session.record(tmp_path))
    for words in ("Never use eval.", "odd files", "`pytest -q`", "KeyError", "`make all`"):
        assert words in text


@pytest.mark.requirement("B1")
def test_it_is_never_longer_than_two_thousand_characters(tmp_path: Path) -> None:
    session = Session()
    for number in range(60):
        session.user(f"Never do {number} " + "😀" * 300 + ".")
        session.runs(f"make {number} " + "x" * 300, "error: no " + "y" * 300, fails=True)
    text = steer(session.record(tmp_path))
    assert 0 < len(text.encode("utf-16-le")) // 2 <= 2000


@pytest.mark.requirement("B1", "B15")
def test_what_the_user_is_shown_is_short_and_has_what_the_work_hangs_on(tmp_path: Path) -> None:
    session = Session().user("Never use eval.").user("Read odd files. " + "And test it. " * 60)
    session.runs("pytest -q", "E  KeyError: 'bom'", fails=True).starts("Bash", command="make all")
    topics = [(f"seg-{number}", f"topic {number}", ["a.py"]) for number in range(9)]
    text = steer(session.record(tmp_path), archived=topics, shown=True)
    assert len(text.encode("utf-16-le")) // 2 <= 600
    for words in ("- request: “Read odd files.", "in flight: Bash `make all`", "failing: `pytest"):
        assert words in text
    assert "topic" not in text


@pytest.mark.requirement("B1")
def test_the_request_is_the_last_thing_asked_of_the_work(tmp_path: Path) -> None:
    session = Session().user("First: build it.").says("Built.").user("Now write the manual.")
    text = steer(session.says("Written.").record(tmp_path))
    assert "- request: “Now write the manual.”" in text
    command = "<command-name>/compact</command-name>\n<command-args>keep ports</command-args>"
    again = steer(session.user(command).record(tmp_path))
    assert "- request: “Now write the manual.”" in again


@pytest.mark.requirement("B1")
def test_a_step_is_in_flight_only_while_its_call_is_open(tmp_path: Path) -> None:
    session = Session().user("Run it all.").starts("Bash", command="make all")
    assert "step in flight: Bash `make all`" in steer(session.record(tmp_path))
    nameless = Session().user("Look around.").starts("TaskList")
    assert "step in flight: TaskList\n" in steer(nameless.record(tmp_path))
    record = session.user("Forget that, list the files.").record(tmp_path)
    assert "in flight" not in steer(record), "it was cut short, and will have no result"
    assert "no result yet" not in compose(record).text


@pytest.mark.requirement("B1")
def test_what_may_be_dropped_is_named_by_the_brief_and_is_no_word_of_the_user(
    tmp_path: Path,
) -> None:
    session = Session()
    for number in range(40):
        session.user(f"Rule {number}: " + "this is how we do it here, always and everywhere. " * 4)
        session.edits(f"/p/src/part_{number}/module_{number}.py").says("Done.")
    record = session.record(tmp_path)
    topics = [(f"seg-{number}", f"topic {number}", ["a.py"]) for number in range(9)]
    _, _, droppable = steer(record, archived=topics).partition("may be dropped, but for the user")
    named = [topic for _, topic, _ in topics if topic in droppable]
    assert named and "Rule" not in droppable
    brief = compose(record, archived=topics).text
    assert all(f"{topic}: seg-" in brief for topic in named)


@pytest.mark.requirement("B1")
def test_with_nothing_known_it_says_nothing() -> None:
    assert steer(Record()) == ""
