"""What is being worked on, whatever was said in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.request import request
from tests.checkpoint.sessions import Session

ASKED = "Please write the tide table for every harbour of the north coast."


def asked(session: Session, folder: Path) -> list[str]:
    return [one.text for one in request(session.facts(folder))]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "aside",
    [
        "Interesting, I did not know that the moon matters so much.",
        "Why does the north gauge print a height of zero on Mondays?",
        "Übrigens hat der Pegel am Montag eine neue Batterie bekommen.",
        "No, the north gauge is the one that was calibrated in May.",
    ],
)
def test_an_aside_does_not_hide_the_request(aside: str, tmp_path: Path) -> None:
    session = Session().user(ASKED).works(2).user(aside).works(1)
    assert asked(session, tmp_path) == [ASKED, aside]


@pytest.mark.requirement("C2")
def test_a_request_in_few_signs_is_one(tmp_path: Path) -> None:
    wide = "请为北海岸的每个港口写一份潮汐表并测试。"
    assert asked(Session().user(ASKED).works(1).user(wide), tmp_path) == [wide]


@pytest.mark.requirement("C2")
def test_a_question_is_the_request_where_nothing_else_is_near(tmp_path: Path) -> None:
    session = Session().user(ASKED)
    for number in range(5):
        session.works(1).user(f"Why does gauge number {number} print a height of zero on Mondays?")
    assert asked(session, tmp_path)[0].startswith("Why does gauge number 4")


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "words",
    ["All done: see the table.", "Fertig.", "C'est fait.", "已完成。", "完了しました。"],
)
def test_what_the_model_reported_done_is_told_so(words: str, tmp_path: Path) -> None:
    session = Session().user(ASKED).edits("/work/project/tide.py").says(words)
    assert "reported this done" in compose(session.facts(tmp_path)).text
    session.user("Thanks. Now the moon table, for every harbour of the south coast.")
    assert "reported this done" not in compose(session.facts(tmp_path)).text


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("words", ["Not done yet.", "Let me look.", "The parser is still missing."])
def test_and_what_it_did_not_is_not(words: str, tmp_path: Path) -> None:
    session = Session().user(ASKED).edits("/work/project/tide.py").says(words)
    assert "reported this done" not in compose(session.facts(tmp_path)).text


@pytest.mark.requirement("C2", "B4")
def test_a_request_that_is_cut_says_where_the_rest_is(tmp_path: Path) -> None:
    session = Session().works(3).user(ASKED + " Mind the swell." * 300).works(2)
    facts = session.facts(tmp_path)
    assert facts.prompts[-1].line == 4
    assert "whole in line 4 of the transcript" in compose(facts).text


@pytest.mark.requirement("C2", "B4")
def test_words_from_before_the_request_are_told_as_such(tmp_path: Path) -> None:
    session = Session().user(ASKED).says("The table is printed.").user(ASKED + " In colour.")
    assert "said before the user's last words: “The table" in compose(session.facts(tmp_path)).text


@pytest.mark.requirement("C2", "B4")
@pytest.mark.parametrize("pasted", [14_000, 300_000])
def test_a_rule_in_the_last_line_of_a_long_prompt_is_found(pasted: int, tmp_path: Path) -> None:
    listed = "Never touch the columns by hand.\n" + "- a column holds metres.\n" * (pasted // 25)
    facts = Session().user(f"{listed}Always ask before you commit.").facts(tmp_path)
    said = [rule.text for rule in facts.rules]
    assert said == ["Never touch the columns by hand.", "Always ask before you commit."]
