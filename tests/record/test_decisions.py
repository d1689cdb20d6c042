"""What was decided: by the model in words of its own, by the user in answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import decisions
from holdfast.record.decisions import find_decisions
from tests.checkpoint.sessions import Session

REFUSAL = "The user doesn't want to proceed with this tool use."
pytestmark = pytest.mark.requirement("C2", "C14")


def test_words_that_answer_no_question_are_no_decision(tmp_path: Path) -> None:
    session = Session().user("Draw the tide table of the north.").says("Done, it is drawn.")
    assert list(decisions(session.user("thanks").record(tmp_path))) == []


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


def test_of_a_plan_the_last_word_counts(tmp_path: Path) -> None:
    session = Session().user("Go.")
    session.calls("ExitPlanMode", REFUSAL, error=True, copy=f"Error: {REFUSAL}", plan="# Tides\n")
    session.calls("ExitPlanMode", "User has approved your plan.", plan="# Tides\n")
    found = [one for one in decisions(session.record(tmp_path)) if "carry out" in one]
    assert found == ["turn 1: “carry out the plan? Tides” → “approved”"]


@pytest.mark.parametrize("words", ["! make tides", "That is wrong. Can you mend it? [Image]"])
def test_a_shell_line_or_a_question_with_a_picture_decides_nothing(
    words: str, tmp_path: Path
) -> None:
    session = Session().user("Go.").says("Done. Shall I print it?").user(words)
    assert [*decisions(session.record(tmp_path))] == []


def test_what_the_user_types_on_interrupting_is_a_decision(tmp_path: Path) -> None:
    session = Session().user("Draw the tides.").says("First I commit. Now the north:")
    session.user("[Request interrupted by user]").user("do not commit anything")
    session.says("Understood.").user("[Request interrupted by user]").user("Why the north?")
    [one] = find_decisions(session.record(tmp_path))
    assert (one.text, one.turn) == ("do not commit anything", 2)
    assert one.question == "interrupted: First I commit. Now the north:"


def test_a_checkpoint_calls_only_short_replies_decisions(tmp_path: Path) -> None:
    session = Session().user("Draw the tides.").says("Drawn. Shall I print them?").user("yes")
    session.says("Printed. Anything else?").user("the moon of the north is not correct [Image]")
    session.says("Now the moon:").user("[Request interrupted by user]").user("continue")
    assert [*decisions(session.record(tmp_path))] == [
        "turn 2: “Drawn. Shall I print them?” → “yes”"
    ]


def test_an_answer_stands_beside_the_whole_question(tmp_path: Path) -> None:
    said = "One line:\n```\ndraw(\n```\n" + "The tides are drawn. " * 20
    question = f"Shall I print {'the tides of the north and ' * 8}of the south?"
    session = Session().user("Draw the tides.").says(f"{said}\n- {question}")
    session.user("only those of the north, and without the moon, please")
    [one] = find_decisions(session.record(tmp_path))
    assert one.question == question
    assert one.text == "only those of the north, and without the moon, please"
