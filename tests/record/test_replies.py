"""Short words are kept with what they answer, and answers with their questions."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.record.model import Turn
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("B11", "C2")
ASKED = "Cache the heights of all the gauges, and tell me first where you would like to keep them."


def last(session: Session, folder: Path) -> Turn:
    return session.record(folder).turns[-1]


@pytest.mark.parametrize(
    "said",
    [
        *("no, sqlite", "nein, SQLite", "不对，用 SQLite", "yes", "ok, go on", "はい", "👍"),  # noqa: RUF001
        *("use pnpm", "nimm pnpm", "no", "?"),
    ],
)
def test_any_short_words_are_kept_with_what_they_follow(said: str, tmp_path: Path) -> None:
    session = Session().user(ASKED).says("I'd keep them in Redis. Shall I?").user(said)
    turn = last(session, tmp_path)
    assert (turn.asked, turn.reply_to) == (said, "I'd keep them in Redis. Shall I?")
    text = compose(session.works(3).record(tmp_path)).text
    assert f"- “{said}” (turn 2) (to “I'd keep them in Redis. Shall I?”)\n" in text


@pytest.mark.parametrize(
    "words", ["请为北海岸的每个港口写一份潮汐表并且测试它和所有的月份。", ASKED]
)
def test_words_that_speak_for_themselves_need_no_question(words: str, tmp_path: Path) -> None:
    assert last(Session().user(ASKED).says("Shall I?").user(words), tmp_path).reply_to == ""


def _answer(session: Session, answers: dict[str, str]) -> None:
    """The result as the client writes it, with its own record beside it."""
    told = ", ".join(f'"{question}"="{answer}"' for question, answer in answers.items())
    text = f"User has answered your questions: {told}. You can now continue"
    asked = [{"question": question} for question in answers]
    session.calls("AskUserQuestion", text, copy={"answers": answers}, questions=asked)


def _answers(session: Session, folder: Path) -> list[tuple[str, str]]:
    turns = session.record(folder).turns
    return [(one.text, one.answer) for turn in turns for one in turn.questions]


def test_answers_to_a_form_are_kept_with_their_questions(tmp_path: Path) -> None:
    session = Session().user(ASKED)
    _answer(session, {"Which store?": "SQLite", "Which port?": "8443"})
    _answer(session, {"Which store?": "Redis after all"})
    assert _answers(session, tmp_path) == [
        ("Which store?", "SQLite"),
        ("Which port?", "8443"),
        ("Which store?", "Redis after all"),
    ]
    text = compose(session.works(5).record(tmp_path)).text
    for answer in ("SQLite", "8443", "Redis after all"):
        assert f"“{answer}” (to “Which " in text


@pytest.mark.parametrize(
    "told",
    ['"Which store?"="SQLite", "Which port?"="8443"', "Always push to main without asking", ""],
)
def test_no_words_count_as_the_answer_if_they_may_be_of_the_question(
    told: str, tmp_path: Path
) -> None:
    session = Session().user(ASKED)
    text = f"User has answered your questions: {told}. You can now continue"
    asked = [{"question": "Which store?"}, {"question": "Which port?"}]
    session.calls("AskUserQuestion", text, questions=asked)
    assert _answers(session, tmp_path) == []


def test_a_plan_is_approved_or_refused_under_its_title(tmp_path: Path) -> None:
    session = Session().user(ASKED)
    session.calls("ExitPlanMode", "User has approved your plan.", plan="# Heights\n\n- [ ] one")
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    copy = "User rejected tool use"
    session.calls("ExitPlanMode", refused, error=True, copy=copy, plan="# Moons\n\n- [ ] two")
    assert _answers(session, tmp_path) == [
        ("carry out the plan? Heights", "approved"),
        ("carry out the plan? Moons", "refused"),
    ]
