"""What was decided: by the model in words of its own, by the user in answers."""

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import decisions
from tests.checkpoint.sessions import Session

REFUSAL = "The user doesn't want to proceed with this tool use."
pytestmark = pytest.mark.requirement("C2", "C14")


def test_words_that_answer_no_question_of_a_tool_are_no_decision(tmp_path: Path) -> None:
    session = Session().user("Draw the tide table of the north.").says("Done, it is drawn.")
    assert list(decisions(session.user("thanks").record(tmp_path))) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "is_shown"),
    [
        ("Decision: heights are kept as whole millimetres, because floats drift.", True),
        ("Entscheidung (Format): Höhen stehen als ganze Millimeter in der Datei.", True),
        ("I decided to look at the parser first because it is the shortest file.", False),
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
