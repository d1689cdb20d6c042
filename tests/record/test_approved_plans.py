"""A plan that the model wrote is not the user's."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.item import OUTPUT_TOKENS
from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

APPROVED = (
    "# Tide table\n\n## Context\nThe gauge was moved last spring.\n\n## Steps\n- print the heights"
)
NOTE = "If you need specific details from before exiting plan mode, read the full transcript."


@pytest.mark.requirement("B11")
@pytest.mark.parametrize("how", ["named", "noted"])
def test_an_approved_plan_is_no_words_of_the_user(how: str, tmp_path: Path) -> None:
    words = f"Implement the following plan:\n\n{APPROVED}\n\n{NOTE if how == 'noted' else ''}"
    more = {"planContent": APPROVED} if how == "named" else {}
    facts = Session().user(words, **more).says("Done.").user("and the moon?").record(tmp_path)
    assert [turn.is_plan for turn in facts.turns] == [True, False]
    brief = compose(facts, OUTPUT_TOKENS).text
    assert "- (approved a plan that the model wrote: # Tide table" in brief
    assert "The gauge was moved last spring." in brief
    assert "“Implement the following plan" not in brief
    assert "- “and the moon?”" in brief
    assert any("plan that the model wrote" in line for line in sections_of(facts)["Why Changed"])


@pytest.mark.requirement("B11")
def test_what_the_user_typed_on_approving_a_plan_stays_theirs(tmp_path: Path) -> None:
    words = f"Implement the following plan:\n\n{APPROVED}\n\n{NOTE}\n\n"
    feedback = "User feedback on this plan: in metres, please"
    facts = Session().user(words + feedback, planContent=APPROVED).record(tmp_path)
    assert [(turn.is_plan, turn.asked[:17]) for turn in facts.turns] == [
        (True, "Implement the fol"),
        (False, "in metres, please"),
    ]
    assert "- “in metres, please”" in compose(facts, OUTPUT_TOKENS).text


@pytest.mark.requirement("B11")
def test_a_plan_that_the_user_typed_is_theirs(tmp_path: Path) -> None:
    typed = "Implement the following plan:\n\n1. print the heights\n2. stop"
    facts = Session().user(typed).record(tmp_path)
    assert not facts.turns[0].is_plan
    assert "- “Implement the following plan: 1. print the heights" in compose(facts).text
