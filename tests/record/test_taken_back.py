"""Words that the user took back, by going to before them and typing something else."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B11", "B12")
ASKED = "Shall I keep the tides in a file or in a database?"
DRAFT = "Put them into the red database of the harbour."
MEANT = "Use a plain file."


def _session() -> Session:
    session = Session().user("Store the tides.", parentUuid=None).says(ASKED)
    session.user(DRAFT, parentUuid="u-ask").says("The red database it is. Shall I drop the file?")
    return session.user(MEANT, parentUuid="u-ask").says("A file, then.")


def test_what_was_typed_in_their_place_is_known_from_the_line_both_follow(tmp_path: Path) -> None:
    turns = _session().record(tmp_path).turns
    assert [(turn.asked, turn.taken_back) for turn in turns] == [
        ("Store the tides.", False),
        (DRAFT, True),
        (MEANT, False),
    ]
    assert turns[-1].reply_to == ASKED, "what was said after the draft is gone from the window"


def test_they_are_kept_and_marked(tmp_path: Path) -> None:
    record = _session().record(tmp_path)
    lines = compose(record).text.splitlines()
    [draft] = [line for line in lines if DRAFT in line]
    [meant] = [line for line in lines if line.startswith(f"- “{MEANT}”")]
    assert draft.endswith("(taken back after the answer)") and "taken back" not in meant
    words = sections_of(record)["Why Changed"]
    assert ["(taken back after the answer): “" in one for one in words] == [False, True, False]


def test_what_they_edited_may_still_be_there(tmp_path: Path) -> None:
    session = Session().user("Store the tides.", parentUuid=None).says(ASKED)
    session.user(DRAFT, parentUuid="u-ask").edits("/work/project/tides.sql").says("Written.")
    record = session.user(MEANT, parentUuid="u-ask").record(tmp_path)
    [draft] = [line for line in compose(record).text.splitlines() if DRAFT in line]
    assert draft.endswith("(taken back after the answer; what it edited may still be there)")
