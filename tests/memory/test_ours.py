"""What Holdfast itself wrote is nobody's words, and is not found as if somebody had said it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.memory.recall import recall
from holdfast.plan.split import TaskPiece
from holdfast.run import prompt
from holdfast.run.prompt import PromptContext
from holdfast.text import fence
from tests.memory.transcripts import a_line, a_session, said, written
from tests.plan.builders import a_piece, a_task

FENCED = f"{fence.opening('a checkpoint')}\n- the walrus sleeps\n{fence.closing()}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    folder.mkdir()
    return folder


def matched(project: Path, query: str) -> list[str]:
    """By the words themselves: not as a neighbour."""
    found = recall(query, project=str(project), by_keyword=True).found
    return [one.item.text for one in found if one.rank.keyword]


@pytest.mark.requirement("M2", "P5")
def test_of_a_runs_prompt_the_plans_words_are_found_and_the_frame_is_not(project: Path) -> None:
    task = a_task("gauge", title="Read the gauge", description="Heights in millimetres.")
    told = PromptContext(title="Harbour", again=True, error="it broke", briefs=(FENCED,))
    words = prompt.write_prompt([TaskPiece(task, a_piece().estimate)], told)
    a_session(project, "s1", words, "Both are read.")
    for query in ("gauge", "millimetres"):
        found = recall(query, project=str(project), by_keyword=True).found
        assert [one.item.sayings for one in found] == [
            ["Task 1: Read the gauge\nHeights in millimetres.", "Both are read."]
        ]
    for query in ("decided", "stub linters", "batch", "session before", "walrus", "broke"):
        assert matched(project, query) == [], query


def _asked_us(name: str, given: dict[str, str]) -> list[dict[str, object]]:
    call = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "turn-12 the walrus sleeps"}
    return [a_line("assistant", [call], 3, "s1"), a_line("user", [result], 4, "s1")]


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
    lines = [*said("s1", "where does it sleep?", "I will look."), *_asked_us(name, given)]
    lines += said("s1", "/holdfast:search walrus", "On the pier.", first=6)
    command = "<command-name>/holdfast:search</command-name><command-args>walrus</command-args>"
    lines[-2]["message"]["content"] = command
    written(project, "s1", lines)
    assert matched(project, "walrus") == []
    assert [text[-12:] for text in matched(project, "pier")] == ["On the pier."]


@pytest.mark.requirement("M2")
def test_what_stands_in_a_fence_of_ours_is_not_found_whoever_quotes_it(project: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat note"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": f"otter\n{FENCED}\nheron"}
    lines = said("s1", f"seal {FENCED}", f"pelican {FENCED}")
    lines += [a_line("assistant", [call], 3, "s1"), a_line("user", [result], 4, "s1")]
    written(project, "s1", lines)
    assert matched(project, "walrus sleeps") == []
    for word in ("seal", "pelican", "otter", "heron"):
        assert len(matched(project, word)) == 1, word
