"""Lines that the session's own model adds: apart, under its name, and kept."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint import additions
from holdfast.checkpoint.sections import sections_of, snapshot_of
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("C2", "C14")


def worked() -> Session:
    session = Session().user("Mend the ebb in src/tide.py, please.").says("I mend it.")
    return session.edits("/work/project/src/tide.py").runs("make tides").says("It is mended.")


def test_they_stand_in_their_sections_under_the_models_name(tmp_path: Path) -> None:
    record = worked().record(tmp_path)
    given = {"what": ["A parser"], "why": ["The old one\nlost nulls"], "decided": ["No floats"]}
    lines = additions.read(additions.add("", {**given, "next": ["Draw the moon", " "]}, record))
    found = sections_of(record, lines)
    assert found["What Changed"][0] == "Added by the model, turn 1: A parser"
    assert found["Why Changed"][:2] == [
        "Added by the model, turn 1: The old one",
        "Added by the model, turn 1: lost nulls",
    ]
    assert found["Key Decisions"] == ["Added by the model, turn 1: No floats"]
    assert found["Next Steps"][0] == "Added by the model, turn 1: Draw the moon"
    snapshot = snapshot_of(record, lines)
    assert snapshot["key_decisions"] == found["Key Decisions"]
    assert [one["text"] for one in snapshot["added_by_model"]][-1] == "Draw the moon"
    brief = compose(record, added=[one.item for one in lines]).text
    assert "Added by the model, turn 1: Draw the moon" in brief


def test_a_path_or_a_command_that_the_transcript_does_not_know_is_marked(tmp_path: Path) -> None:
    text = "Run `make tides` and `make moon` on src/tide.py, tide.py, lib/ghost.py and Node.js"
    session = worked().starts("Bash", command=f"holdfast checkpoint --next '{text}'")
    [line] = additions.read(additions.add("", {"next": [text]}, session.record(tmp_path)))
    assert line.text == (
        "Run `make tides` and `make moon` (not in the record) on src/tide.py, tide.py, "
        "lib/ghost.py (not in the record) and Node.js"
    )


def test_the_newest_are_kept_the_same_words_once(tmp_path: Path) -> None:
    record, stored = worked().record(tmp_path), ""
    for number in range(30):
        stored = additions.add(stored, {"what": [f"Step {number}"], "next": ["The same"]}, record)
    lines = [one.text for one in additions.read(stored)]
    assert len(lines) == additions.MOST_LINES and lines.count("The same") == 1
    assert lines[-2:] == ["Step 29", "The same"]
    assert additions.read("what x y\nnothing\nnext 3 Go\n") == [
        additions.AddedLine("next", 3, "Go")
    ]


@pytest.mark.requirement("C12")
def test_lines_of_the_model_never_push_out_the_users_words(tmp_path: Path) -> None:
    session = Session()
    for number in range(12):
        session.user(f"Rule {number}: the gate of dock {number} stays shut at night.").says(
            "Noted."
        )
    record = session.record(tmp_path)
    files = ", ".join(f"docs/part{number}.md" for number in range(16))
    stored = ""
    for number in range(additions.MOST_LINES):
        stored = additions.add(stored, {"next": [f"write {number} {files}"]}, record)
    sections = sections_of(record, additions.read(stored))
    assert sum("stays shut at night" in one for one in sections["Why Changed"]) == 12
    assert sum("Added by the model" in one for one in sections["Next Steps"]) >= 3


@pytest.mark.requirement("X4")
def test_a_secret_of_several_lines_is_removed_from_what_the_model_adds(tmp_path: Path) -> None:
    record = Session().user("Connect.").record(tmp_path)
    stored = additions.add("", {"why": ["api_key:\nq8Zt4VbN2xLr7WmKp0Yd3Hs"]}, record)
    assert "q8Zt4VbN2xLr7WmKp0Yd3Hs" not in stored
