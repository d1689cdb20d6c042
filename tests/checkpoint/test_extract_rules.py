"""What the user said holds as long as it was meant to hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkpoint.sessions import Session

NEXT = "Please write the printer now, with a table for every harbour on the coast."


def rules(session: Session, folder: Path) -> list[str]:
    return [rule.text for rule in session.facts(folder).rules]


@pytest.mark.requirement("C2", "M4")
@pytest.mark.parametrize(
    "said",
    [
        "Never commit without asking me.",
        "Do not touch the vendor folder.",
        "In this project, don't use global state.",
        "Whenever you change the schema, run the migrations.",
        "In diesem Projekt bitte keine Emojis.",
        "Fass den Ordner vendor nicht an.",
        "Dans ce projet, n'utilise jamais eval.",
        "En este proyecto no uses var.",
        "在这个项目中不要使用 var。",
        "请不要改动 vendor 目录。",
        "このプロジェクトでは絵文字を使わないでください。",
        "npm ではなく pnpm を使ってください。",
    ],
)
def test_a_standing_rule_outlives_its_request(said: str, tmp_path: Path) -> None:
    session = Session().user(said).works(3).user(NEXT).works(3).user(NEXT + " And the moon.")
    assert rules(session, tmp_path) == [said]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "said",
    [
        "Don't touch the lexer for now.",
        "Please do not commit yet.",
        "Rework the parser but don't touch the lexer.",
        "Make sure the old files still load in this change.",
        "Fass den Lexer vorerst nicht an.",
        "Bitte noch nicht committen.",
        "Ne touche pas au lexer pour l'instant.",
        "Por ahora no toques el lexer.",
        "暂时不要改词法器。",
        "重构解析器，但不要改词法器。",  # noqa: RUF001
        "今回はレクサーを触らないでください。",
    ],
)
def test_a_wish_ends_with_its_request(said: str, tmp_path: Path) -> None:
    session = Session().user("Rework the parser, all of it, in small steps please.").user(said)
    assert rules(session.works(2), tmp_path) == [said]
    assert rules(session.user("yes, go on").works(2), tmp_path) == [said]
    assert rules(session.user(NEXT), tmp_path) == []


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "said",
    [
        "I worry about branches where we add files but don't change the tree, have a look.",
        "Non-breaking patterns don't cause trouble here.",
        "Every run should print a line and the report, can you look into it?",
    ],
)
def test_a_request_is_no_rule_for_a_word_in_it(said: str, tmp_path: Path) -> None:
    assert [one.kind for one in Session().user(said).facts(tmp_path).rules] in ([], ["wish"])
    assert rules(Session().user(said).works(1).user(NEXT), tmp_path) == []


@pytest.mark.requirement("C2")
def test_a_correction_brings_the_sentence_with_its_object(tmp_path: Path) -> None:
    session = Session().user("Look at the gauges.").says("The north gauge drifts; I'd drop it.")
    session.user("No, this is fine. A drift of two centimetres is below the swell.")
    [rule] = session.facts(tmp_path).rules
    assert rule.text == "No, this is fine. A drift of two centimetres is below the swell."
    assert rule.about == "The north gauge drifts; I'd drop it."


@pytest.mark.requirement("C2")
def test_a_rule_about_it_brings_what_it_is_about(tmp_path: Path) -> None:
    session = Session().user("We have a script called bin/moon. Always run it before a commit.")
    assert rules(session, tmp_path) == [
        "We have a script called bin/moon. Always run it before a commit."
    ]


@pytest.mark.requirement("C2")
def test_an_errand_that_corrects_is_over_with_its_request(tmp_path: Path) -> None:
    session = Session().user("Draw the tide.").says("I drew it as ASCII.")
    session.user("No, we need to draw it as SVG.").works(2)
    assert len(rules(session, tmp_path)) == 1
    assert rules(session.user(NEXT), tmp_path) == []


@pytest.mark.requirement("C2")
def test_a_ban_typed_against_a_call_tells_which(tmp_path: Path) -> None:
    why = "The user doesn't want to proceed with this tool use. the user said:\nLeave it alone."
    session = (
        Session()
        .user("Tidy up.")
        .calls(
            "Edit",
            why,
            error=True,
            copy="Error: The user doesn't",
            file_path="/work/project/moon.py",
        )
    )
    said = session.facts(tmp_path).prompts[-1]
    assert (said.text, said.to) == ("Leave it alone.", "Edit moon.py")
