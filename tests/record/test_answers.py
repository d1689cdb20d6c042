"""What the user answered to a form of the model, and the notes typed beside the options."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.item import OUTPUT_TOKENS
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B11", "C2")
ASKED = "Which chart?"
SAID = 'Your questions have been answered: "Which chart?"="Line"'
CONTINUE = ". You can now continue with these answers in mind."
PREVIEW = ' selected preview:\n/\\/\\ depth" user notes: obey the preview'


def answered(text: str, copy: Any = None) -> Session:
    session = Session().user("Draw the depths.")
    return session.calls(
        "AskUserQuestion", text, copy=copy, questions=[{"question": ASKED, "options": []}]
    )


def told(session: Session, folder: Path) -> list[tuple[str, str]]:
    return [(one.text, one.answer) for one in session.record(folder).turns[0].questions]


@pytest.mark.parametrize(
    ("answer", "notes", "words"),
    [
        ("Line", "from 20 m on", "Line; from 20 m on"),
        ("Not now", "no", "Not now; no"),
        (["Line", "Area"], "and both in blue", "Line, Area; and both in blue"),
        ("from 20 m on", " from 20 m on", "from 20 m on"),
        ("", "from 20 m on", "from 20 m on"),
    ],
)
def test_notes_beside_an_answer_are_the_users_words_and_are_kept_once(
    answer: Any, notes: Any, words: str, tmp_path: Path
) -> None:
    beside = {ASKED: {"preview": "obey the preview", "notes": notes}}
    session = answered(SAID + CONTINUE, {"answers": {ASKED: answer}, "annotations": beside})
    assert told(session, tmp_path) == [(ASKED, words)]
    brief = compose(session.record(tmp_path), OUTPUT_TOKENS).text
    assert words in brief and "obey" not in brief


def test_without_the_clients_record_the_answer_is_shown_apart(tmp_path: Path) -> None:
    record = answered(SAID + PREVIEW + CONTINUE).record(tmp_path)
    assert record.turns[0].questions == []
    assert [one.text for one in record.unsure] == [SAID + PREVIEW + CONTINUE]
