"""The words for the summariser: short, and first what must not be lost."""

from pathlib import Path

import pytest

from holdfast.brief.summary_instructions import write_instructions
from tests.checkpoint.sessions import Session


@pytest.mark.requirement("B1")
def test_it_names_what_to_keep_word_for_word(tmp_path: Path) -> None:
    session = (
        Session().user("Never use eval.").user("Make the importer read odd files, and test it.")
    )
    session.runs("pytest -q", "E  KeyError: 'bom'", fails=True).starts("Bash", command="make all")
    text = write_instructions(session.record(tmp_path))
    for words in ("Never use eval.", "odd files", "`pytest -q`", "KeyError", "`make all`"):
        assert words in text


@pytest.mark.requirement("B1")
def test_it_is_never_longer_than_two_thousand_characters(tmp_path: Path) -> None:
    session = Session()
    for number in range(60):
        session.user(f"Never do {number} " + "😀" * 300 + ".")
        session.runs(f"make {number} " + "x" * 300, "error: no " + "y" * 300, fails=True)
    text = write_instructions(session.record(tmp_path))
    assert 0 < len(text.encode("utf-16-le")) // 2 <= 2000


@pytest.mark.requirement("B1", "B15")
def test_what_the_user_is_shown_is_short_and_has_what_the_work_hangs_on(tmp_path: Path) -> None:
    session = Session().user("Never use eval.").user("Read odd files. " + "And test it. " * 60)
    session.runs("pytest -q", "E  KeyError: 'bom'", fails=True).starts("Bash", command="make all")
    topics = [(f"seg-{number}", f"topic {number}", ["a.py"]) for number in range(9)]
    text = write_instructions(session.record(tmp_path), archived=topics, shown=True)
    assert len(text.encode("utf-16-le")) // 2 <= 600
    for words in (
        "- request: “Read odd files.",
        "in flight: Bash `make all`",
        "failed at step 1: `pytest",
    ):
        assert words in text
    assert "topic" not in text


@pytest.mark.requirement("B1")
def test_the_request_is_the_last_thing_asked_of_the_work(tmp_path: Path) -> None:
    session = Session().user("First: build it.").says("Built.").user("Now write the manual.")
    text = write_instructions(session.says("Written.").record(tmp_path))
    assert "- request: “Now write the manual.”" in text
    command = "<command-name>/compact</command-name>\n<command-args>keep ports</command-args>"
    again = write_instructions(session.user(command).record(tmp_path))
    assert "- request: “Now write the manual.”" in again


@pytest.mark.requirement("B1", "B15")
def test_short_replies_come_last_and_with_what_they_answer(tmp_path: Path) -> None:
    session = Session().user("Never round a height of the tide before it has been stored.")
    session.says("Shall I store the heights as millimetres?").user("Yes").says("Stored.")
    session.user("Now draw the chart of the week.").runs("make chart", "error: no ink", fails=True)
    record = session.record(tmp_path)
    for shown in (True, False):
        lines = write_instructions(record, shown=shown).splitlines()
        starts = [line.split(":")[0] for line in lines[1:5]]
        assert starts == ["- request", "- failed at step 3", *["- said by the user"] * 2]
        assert "Never round a height" in lines[3]
        assert lines[4].endswith("“Yes” (to “Shall I store the heights as millimetres?”)")
        assert lines[-1].startswith("Say what is done only where a result shows it")


@pytest.mark.requirement("B1")
def test_pins_are_named_and_words_that_were_taken_back_are_not(tmp_path: Path) -> None:
    session = Session().user("Draw the tide charts in blue.").says("They are blue.")
    record = session.user("Draw the moon.").says("Drawn.").record(tmp_path)
    record.turns[1].taken_back = True
    told = write_instructions(record, pins=["Never push to main."])
    assert "- pinned: Never push to main." in told
    assert "tide charts" in told and "moon" not in told
