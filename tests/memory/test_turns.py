"""Turns are found by what was asked, decided and reported in them, and each is one result."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.memory.recall import recall
from holdfast.text import fence
from tests.memory.transcripts import a_line, a_session, said, written

REMINDER = "<system-reminder>\nThe walrus may be out of date.\n</system-reminder>"
MODES = "Which permission mode do the tests run in?"


def called(name: str, given: dict[str, Any], text: str, **more: Any) -> list[dict[str, Any]]:
    """A call and its result, after the first two lines of a session."""
    call = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    return [a_line("assistant", [call], 3, "s1"), a_line("user", [result], 4, "s1", **more)]


@pytest.mark.requirement("M2")
def test_an_answer_to_a_question_is_found_by_the_question(project: Path) -> None:
    questions = {"questions": [{"question": MODES, "options": [{"label": "bypass"}]}]}
    answers = {"answers": {MODES: "bypass"}}
    lines = said("s1", "set up the harbour suite", "I need one thing first.")
    lines += called("AskUserQuestion", questions, f'"{MODES}"="bypass"', toolUseResult=answers)
    lines += said("s1", "now the docs", "The docs are written.", first=5)
    written(project, "s1", lines)
    [first, *_] = recall("which permission mode in tests?", project=str(project)).found
    assert first.kind == "turn" and first.title == "set up the harbour suite"
    assert f"{MODES} bypass" in first.snippet


@pytest.mark.requirement("M2")
def test_a_short_reply_is_found_by_what_it_answers(project: Path) -> None:
    talk = ("go on", "Shall the tide gauge report in feet?", "no", "Metres it is.")
    a_session(project, "s1", *talk, "what else?", "Nothing.")
    found = recall("gauge feet or metres", project=str(project)).found
    [reply] = [one for one in found if "Metres it is." in one.item.sayings]
    assert reply.title == reply.item.sayings[0] == f"“no” (to “{talk[1]}”)"


@pytest.mark.requirement("M2")
def test_what_a_reply_answers_never_stands_as_the_words_of_the_user(project: Path) -> None:
    """However long it is, and whichever of its words are looked for."""
    answer = f"The kelp is noise. {'None of it is lost. ' * 30}Want me to clean it up?"
    a_session(project, "s1", "look at the kelp", answer, "yes", "Done.")
    for query in ("kelp noise", "clean", "done"):
        [*_, title] = sorted(one.title for one in recall(query, project=str(project)).found)
        assert title.startswith("“yes” (to “None of it") and title.endswith("clean it up?”)")


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{REMINDER}\notter", ["otter"]),
        (f"otter\n\n{REMINDER}\n{REMINDER}\n", ["otter"]),
        ("seal\n     2→<system-reminder>\n     3→walrus</system-reminder>", ["seal", "walrus"]),
        (f"seal\n{REMINDER}\notter", ["seal", "walrus", "otter"]),
    ],
)
def test_what_the_client_puts_around_a_result_is_not_found(
    project: Path, text: str, kept: list[str]
) -> None:
    lines = said("s1", "what sleeps here?", "I will look.")
    written(project, "s1", lines + called("Bash", {"command": "cat note"}, text))
    assert [word for word in ("seal", "walrus", "otter") if matched(project, word)] == kept


@pytest.mark.requirement("M2")
def test_a_turn_is_one_result_with_what_was_asked_and_what_came_of_it(project: Path) -> None:
    steps = [
        a_line("assistant", [{"type": "text", "text": f"Pier {n} is measured."}], n, "s1")
        for n in range(1, 9)
    ]
    lines = [*said("s1", "measure every pier"), *steps]
    lines += said("s1", "thanks", "You are welcome.", first=9)
    written(project, "s1", lines)
    found = recall("pier measured", project=str(project)).found
    [first] = [one for one in found if "pier" in one.text.lower()]
    assert first.title == "measure every pier"
    assert first.item.sayings[0] == "measure every pier"
    assert first.item.sayings[-1] == "Pier 8 is measured."


FENCED = f"{fence.opening('a checkpoint')}\n- the walrus sleeps\n{fence.closing()}"


def matched(project: Path, query: str) -> list[str]:
    """By the words themselves: not as a neighbour."""
    found = recall(query, project=str(project), by_keyword=True).found
    return [one.item.text for one in found if one.rank.keyword]


@pytest.mark.requirement("M2", "M6")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Bash", {"command": "holdfast search 'walrus' --limit 3"}),
        ("Bash", {"command": "/opt/venv/bin/holdfast expand walrus"}),
        ("mcp__holdfast__recall", {"query": "walrus"}),
        ("mcp__plugin_holdfast_holdfast__expand", {"query": "walrus"}),
    ],
)
def test_looking_for_a_thing_is_no_second_finding_of_it(
    project: Path, name: str, given: dict[str, str]
) -> None:
    lines = [
        *said("s1", "where does it sleep?", "I will look."),
        *called(name, given, "turn-12 the walrus sleeps"),
    ]
    lines += said("s1", "/holdfast:search walrus", "On the pier.", first=6)
    command = "<command-name>/holdfast:search</command-name><command-args>walrus</command-args>"
    lines[-2]["message"]["content"] = command
    written(project, "s1", lines)
    assert matched(project, "walrus") == []
    assert [text[-12:] for text in matched(project, "pier")] == ["On the pier."]


@pytest.mark.requirement("M2")
def test_what_stands_in_a_fence_of_ours_is_not_found_whoever_quotes_it(project: Path) -> None:
    lines = said("s1", f"seal {FENCED}", f"pelican {FENCED}")
    lines += called("Bash", {"command": "cat note"}, f"otter\n{FENCED}\nheron")
    written(project, "s1", lines)
    assert matched(project, "walrus sleeps") == []
    for word in ("seal", "pelican", "otter", "heron"):
        assert len(matched(project, word)) == 1, word
