"""What was decided: by the model in words of its own, by the user in answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import decisions
from holdfast.record.decisions import MOST_DECISIONS, find_decisions
from tests.checkpoint.sessions import Session

REFUSAL = "The user doesn't want to proceed with this tool use."
pytestmark = pytest.mark.requirement("C2", "C14")


def test_a_decision_keeps_its_reason_and_its_place(tmp_path: Path) -> None:
    words = "I looked around. I decided to keep the old format because users rely on it. Next."
    (decision,) = Session().user("Go.").says(words).record(tmp_path).decisions
    assert decision.text == "I decided to keep the old format because users rely on it."
    assert decision.place.op == 1 and decision.place.offset > 0


def test_a_later_correction_removes_no_decision(tmp_path: Path) -> None:
    session = Session().user("Cache the results somewhere please, wherever you like to put them.")
    session.says("I decided to use JWT and PostgreSQL because the team knows both.")
    session.user("no, don't use localStorage for the token")
    record = session.record(tmp_path)
    assert any("JWT and PostgreSQL" in one.text for one in find_decisions(record))
    assert "no, don't use localStorage for the token" in record.turns[-1].asked


def test_words_that_answer_no_question_are_no_decision(tmp_path: Path) -> None:
    session = Session().user("Draw the tide table of the north.").says("Done, it is drawn.")
    assert list(decisions(session.user("thanks").record(tmp_path))) == []


def test_decisions_come_with_their_question_and_their_turn(tmp_path: Path) -> None:
    session = Session().user("Read all of the code first, and then tell me what you think of it.")
    session.says("It is fine. Shall I cache the heights in SQLite or in Redis?").user("SQLite")
    session.says("I decided to cache them for an hour because gauges report hourly.")
    form = {"answers": {"Which port?": "8443"}}
    session.calls("AskUserQuestion", "ok", copy=form, questions=[{"question": "Which port?"}])
    assert list(decisions(session.record(tmp_path))) == [
        "turn 2: It is fine. Shall I cache the heights in SQLite or in Redis? → SQLite",
        "turn 2: Which port? → 8443",
    ]
    [chosen] = [one for one in find_decisions(session.record(tmp_path)) if one.by == "model"]
    assert chosen.text == "I decided to cache them for an hour because gauges report hourly."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "is_shown"),
    [
        ("Decision: heights are kept as whole millimetres, because floats drift.", True),
        ("**Decision 2:** we keep one file for each harbour, not one for all.", True),
        ("Entscheidung (Format): Höhen stehen als ganze Millimeter in der Datei.", True),
        ("I decided to look at the parser first because it is the shortest file.", False),
        ("The decision is yours: one file, or one for each harbour of the coast.", False),
    ],
)
def test_the_checkpoint_has_what_the_model_labels_as_a_decision(
    said: str, is_shown: bool, tmp_path: Path
) -> None:
    found = [*decisions(Session().user("Go.").says(said).record(tmp_path))]
    assert len(found) == is_shown
    assert all(one.startswith("turn 1, the model: ") for one in found)


@pytest.mark.parametrize(
    ("said", "reply", "is_decision"),
    [
        ("Shall I store heights in feet?", f"Metres. {'Feet are for shoes. ' * 20}", True),
        ("**Shall I store heights in feet?**", "metres", True),
        ("Shall I store heights in feet?", "what is a foot?", False),
        ("Shall I store heights in feet?", "what is a foot? I only know the metre.", False),
        ("Does it run now?", "(env) me@quay:~/tides$ make tides\nno such rule", False),
        ("Does it run now?", "\u276f make tides\nno such rule", False),
        ("Which first?", "Low water at six. " * 200, False),
        ("Why feet? Because of the gauge.", "metres", False),
        ("Shall I print it?", "can you show me the table first", False),
        ("Shall I print it?", "explain what it would print", False),
        ("1. in feet\n2. in metres\nWhich?", "can you do 2", True),
        ('It now answers "what is the tide?"', "Then go on", False),
        ("See https://tides.example/?unit=feet for it.", "metres", False),
    ],
)
def test_a_reply_decides_when_the_last_words_were_a_question(
    said: str, reply: str, is_decision: bool, tmp_path: Path
) -> None:
    found = list(decisions(Session().user("Go.").says(said).user(reply).record(tmp_path)))
    assert [one.partition(" → ")[2][:6] for one in found] == [reply[:6]] * is_decision


def test_a_question_in_place_of_an_answer_is_no_decision(tmp_path: Path) -> None:
    copy = {"answers": {"Feet or metres?": "what is a foot?", "Which port?": "Quay 3"}}
    session = (
        Session()
        .user("Go.")
        .calls(
            "AskUserQuestion", "answered", copy=copy, questions=[{"question": "Feet or metres?"}]
        )
    )
    assert list(decisions(session.record(tmp_path))) == ["turn 1: Which port? → Quay 3"]


def test_what_the_user_stopped_and_said_otherwise_is_no_decision(tmp_path: Path) -> None:
    session = Session().user("Go.").says("Shall I store feet?").user("yes, feet please")
    assert len(list(decisions(session.record(tmp_path)))) == 1
    session.runs("ls").user("[Request interrupted by user]").user("No: metres, as everywhere.")
    assert list(decisions(session.record(tmp_path))) == []


def test_of_a_plan_the_last_word_counts(tmp_path: Path) -> None:
    session = Session().user("Go.")
    session.calls("ExitPlanMode", REFUSAL, error=True, copy=f"Error: {REFUSAL}", plan="# Tides\n")
    session.calls("ExitPlanMode", "User has approved your plan.", plan="# Tides\n")
    found = [one for one in decisions(session.record(tmp_path)) if "carry out" in one]
    assert found == ["turn 1: carry out the plan? Tides → approved"]


@pytest.mark.requirement("X7")
def test_the_number_of_decisions_is_bounded(tmp_path: Path) -> None:
    session = Session().user("Go.")
    for number in range(2 * MOST_DECISIONS):
        session.says(f"I decided to use way number {number} because it is the plain one.")
    found = session.record(tmp_path).decisions
    assert len(found) == MOST_DECISIONS
    assert f"number {2 * MOST_DECISIONS - 1} " in found[-1].text


@pytest.mark.parametrize("words", ["! make tides", "That is wrong. Can you mend it? [Image]"])
def test_a_shell_line_or_a_question_with_a_picture_decides_nothing(
    words: str, tmp_path: Path
) -> None:
    session = Session().user("Go.").says("Done. Shall I print it?").user(words)
    assert [*decisions(session.record(tmp_path))] == []


@pytest.mark.requirement("C14")
def test_a_slash_command_decides_nothing(tmp_path: Path) -> None:
    session = Session().user("Draw it.").says("Shall I draw the moon too?").user("/tidy the quay")
    assert [one for one in find_decisions(session.record(tmp_path)) if one.by == "user"] == []
    session = Session().user("Draw it.").says("Where to?").user("/moon/full.svg, please")
    assert len([one for one in find_decisions(session.record(tmp_path)) if one.by == "user"]) == 1
