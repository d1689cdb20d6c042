"""What the model said while it worked is kept in any wording; what announces a call is not."""

from pathlib import Path

import pytest

from holdfast.brief import work_items
from holdfast.record.reader import MOST_REMARKS, REMARK_CHARS
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B12")


def remarks(session: Session, folder: Path) -> list[str]:
    return [one.text for one in session.record(folder).remarks]


@pytest.mark.parametrize(
    "words",
    [
        "The kiln stays at nine hundred degrees; hotter and the glaze runs.",
        "Der Ofen bleibt bei neunhundert Grad, sonst läuft die Glasur.",
        "I'll weigh the clay twice, because the old scale drifts in the cold.",
    ],
)
def test_what_was_said_between_calls_is_kept_in_any_wording(words: str, tmp_path: Path) -> None:
    session = Session().user("Fire the bowls.").says(words).runs("make kiln").works(20)
    assert words in remarks(session, tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        "Let me look at the kiln once more before we go on.",
        "Ok.",
        "The change to the firing schedule looks like this:",
    ],
)
def test_short_words_and_what_announces_the_next_call_are_not_kept(
    words: str, tmp_path: Path
) -> None:
    session = Session().user("Fire the bowls.").says(words).runs("make kiln")
    assert remarks(session, tmp_path) == []


def test_the_number_and_the_length_of_remarks_are_bounded(tmp_path: Path) -> None:
    session = Session().user("Fire the bowls.")
    for number in range(MOST_REMARKS + 5):
        session.says(f"Bowl {number} has a crack {'along the rim ' * 99}, to sand.").runs("make")
    found = remarks(session, tmp_path)
    assert len(found) == MOST_REMARKS and found[-1].startswith(f"Bowl {MOST_REMARKS + 4} ")
    assert max(map(len, found)) <= REMARK_CHARS + 8


NOTED = "The kiln stays at nine hundred degrees; hotter and the glaze runs."


def shown(session: Session, folder: Path) -> list[str]:
    record = session.record(folder)
    return [one.text.partition(": ")[2] for one in work_items.remarks(record, 9000)]


def test_the_last_words_of_all_are_no_remark_beside_themselves(tmp_path: Path) -> None:
    session = Session().user("Fire the bowls.").says(NOTED).runs("make kiln")
    assert shown(session, tmp_path) == []


def test_a_remark_that_was_made_again_is_shown_once(tmp_path: Path) -> None:
    session = Session().user("Fire the bowls.")
    for _ in range(3):
        session.says(NOTED).runs("make kiln")
    session.says("Loaded, all of it, and the door is shut.").runs("make shelf")
    assert shown(session, tmp_path) == [NOTED]
