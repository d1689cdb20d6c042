"""Turns are found by what was asked, decided and reported in them, and each is one result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.memory.recall import recall
from tests.memory.transcripts import a_line, a_session, said, written

MODES = "Which permission mode do the tests run in?"
REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you "
    "how to proceed, the user said:\nthe ferry table is read only"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    folder.mkdir()
    return folder


def call(number: int, tool: str, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
    return a_line("assistant", [block], number, "s1")


def result(number: int, text: str, *, is_error: bool = False, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": text}
    return a_line("user", [{**block, "is_error": is_error}], number, "s1", **more)


def asked_by_tool() -> list[dict[str, Any]]:
    options = [
        {"label": "bypass", "description": "no prompts at all"},
        {"label": "plan", "description": "nothing is changed"},
    ]
    return [
        *said("s1", "set up the harbour suite", "I need one thing first."),
        call(2, "AskUserQuestion", questions=[{"question": MODES, "options": options}]),
        result(3, f'"{MODES}"="bypass"', toolUseResult={"answers": {MODES: "bypass"}}),
        *said("s1", "now the docs", "The docs are written.", first=4),
    ]


@pytest.mark.requirement("M2")
def test_an_answer_to_a_question_is_found_by_the_question(project: Path) -> None:
    written(project, "s1", asked_by_tool())
    [first, *_] = recall("which permission mode in tests?", project=str(project)).found
    assert first.kind == "turn" and first.title == "set up the harbour suite"
    assert f"{MODES} bypass" in first.snippet


@pytest.mark.requirement("M2")
def test_a_short_reply_is_found_by_what_it_answers(project: Path) -> None:
    talk = ("go on", "Shall the tide gauge report in feet?", "no", "Metres it is.")
    a_session(project, "s1", *talk, "what else?", "Nothing.")
    found = recall("gauge feet or metres", project=str(project)).found
    assert f"{talk[1]} → no" in [one.item.title for one in found]
    assert any(one.item.sayings == [f"{talk[1]}\nno", "Metres it is."] for one in found)


@pytest.mark.requirement("M2")
def test_words_with_which_a_call_was_refused_are_the_users(project: Path) -> None:
    lines = [
        *said("s1", "clean up", "I will empty the table."),
        call(2, "Bash", command="psql -c 'truncate ferries'"),
        result(3, REFUSAL, is_error=True, toolUseResult="User rejected tool use"),
        a_line("assistant", [{"type": "text", "text": "Then I leave it alone."}], 4, "s1"),
    ]
    path = written(project, "s1", [])
    compact = (json.dumps(line, separators=(",", ":")) for line in lines)  # as the client writes
    path.write_text("".join(f"{line}\n" for line in compact))
    [first, *_] = recall("ferry table read only", project=str(project)).found
    assert first.item.sayings[0].endswith("the ferry table is read only")
    assert "Then I leave it alone." in first.snippet


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
