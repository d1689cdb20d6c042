"""The words for the summariser: short, and first what must not be lost."""

from __future__ import annotations

from pathlib import Path

import pytest

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
def test_with_nothing_known_it_says_nothing() -> None:
    assert steer(Record()) == ""
