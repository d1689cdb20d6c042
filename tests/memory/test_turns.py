"""Turns are found by what was asked, decided and reported in them, and each is one result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.memory.recall import recall
from holdfast.memory.sources import turns
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
@pytest.mark.parametrize(
    "question", ["which permission mode in tests?", "permission mode", "what we decided"]
)
def test_a_decision_is_found_by_its_question_and_shown_with_its_answer(
    project: Path, question: str
) -> None:
    written(project, "s1", asked_by_tool())
    [first, *_] = recall(question, project=str(project)).found
    assert (first.kind, first.item.by) == ("decision", "user")
    assert (first.title, first.item.text) == (MODES, "bypass")
    assert first.snippet.startswith("bypass")


@pytest.mark.requirement("M2")
def test_a_short_reply_is_found_by_what_it_answers(project: Path) -> None:
    talk = ("go on", "Shall the tide gauge report in feet?", "no", "Metres it is.")
    a_session(project, "s1", *talk, "what else?", "Nothing.")
    [first, *_] = recall(
        "tide gauge feet", project=str(project), limit=1, kinds=("decision",)
    ).found
    assert (first.item.title, first.item.text) == (talk[1], "no")
    [turn, *_] = recall("gauge feet or metres", project=str(project)).found
    whole = f"{turn.text}\n{turn.rest}"
    assert "Metres it is." in whole and f"{talk[1]}\nno" in whole


@pytest.mark.requirement("M2")
def test_a_turn_that_ended_with_a_question_is_shown_with_its_answer(project: Path) -> None:
    """The answer begins the next turn, and names nothing that one would search for."""
    question = "Shall the gauge report in feet?"
    talk = ("mount the tide gauge on the quay", f"It is mounted. `{'─' * 40}`\n{question}")
    a_session(project, "s1", *talk, "the metric one", "Done.", "what else?", "Nothing.")
    found = recall("mount gauge quay", project=str(project), by_keyword=True).found
    first = next(one for one in found if one.kind == "turn")
    assert f"{question} → the metric one" in first.snippet and "──" not in first.snippet
    assert "the metric one" in first.rest


@pytest.mark.requirement("M2")
def test_words_that_begin_the_next_turn_and_answer_nothing_are_not_shown(project: Path) -> None:
    talk = ("mount the tide gauge on the quay", "It is mounted.", "paint the buoy", "Done.")
    a_session(project, "s1", *talk)
    [first, *_] = recall("mount gauge quay", project=str(project), by_keyword=True).found
    assert "paint" not in f"{first.snippet} {first.rest}"


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
    assert (first.item.by, first.item.text) == ("user", "the ferry table is read only")


@pytest.mark.requirement("M2")
def test_a_report_of_a_subagent_is_found_to_its_end(project: Path) -> None:
    report = "\n\n".join(f"Finding {n}: nothing of note was seen there." for n in range(80))
    lines = [
        *said("s1", "look around", "I send somebody."),
        call(2, "Task", description="survey the quay", prompt="look", subagent_type="Explore"),
        result(3, f"{report}\n\nThe walrus sleeps under the crane."),
    ]
    written(project, "s1", lines)
    [first, *_] = recall("walrus crane", project=str(project)).found
    assert first.item.by == "agent" and first.item.title == "survey the quay"
    assert "walrus sleeps" in first.snippet and first.title == "look around"


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
    [first] = [one for one in found if "pier" in f"{one.text}{one.rest}".lower()]
    assert "measure every pier" in f"{first.text}\n{first.rest}"
    assert "Pier 8 is measured." in f"{first.text}\n{first.rest}"


@pytest.mark.requirement("M2")
def test_of_two_that_say_it_the_user_comes_first(project: Path) -> None:
    words = "the archive is kept for ninety days on the north disk"
    a_session(project, "s1", "how long?", f"I believe {words}.", f"remember: {words}", "Noted.")
    [first, *_] = recall("how many days is the archive kept", project=str(project)).found
    assert first.item.by == "user" and first.item.text.startswith("remember:")


@pytest.mark.requirement("M2", "X7")
@pytest.mark.parametrize("cut", range(1, 7))
def test_reading_on_in_the_middle_of_a_turn_gives_what_reading_at_once_gives(
    tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "s1.jsonl"
    lines = [json.dumps(line) + "\n" for line in asked_by_tool()]
    path.write_text("".join(lines[:cut]))
    first = turns.read(str(path), "")
    path.write_text("".join(lines))
    second = turns.read(str(path), first.state)
    kept = [one for one in first.items if one.position < second.start]
    assert [*kept, *second.items] == list(turns.read(str(path), "").items)


@pytest.mark.requirement("M2")
def test_how_far_a_reading_came_holds_no_secret(tmp_path: Path) -> None:
    secret = "sk-ant-" + "api03-" + "Qz7Lm2Xw9Rt4Kp8Vn3Bc6Ys1Df5Gh0Jk"  # made up
    lines = said("s1", f"use ANTHROPIC_API_KEY={secret} for it", f"I use {secret} then. Good?")
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = turns.read(str(path), "")
    assert secret not in read.state and "ANTHROPIC_API_KEY" in read.state
    assert all(secret not in f"{one.title}{one.text}{one.more}" for one in read.items)
