"""`holdfast replay`: which session it means, and what it says of each compaction."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.client.memory_folder import slug
from tests.builders import a_boundary, a_prompt, a_result, a_summary, a_transcript, an_answer

RULE = "Count the lanterns twice and never round the tide tables to whole hours."
KEPT = "Please write the harbour report."


def _filled(*, summary: str, window: int = 1) -> list[dict[str, Any] | str]:
    lines: list[dict[str, Any] | str] = [a_prompt(KEPT), an_answer(20_000, id=f"m{window}")]
    lines += [a_prompt(RULE)]
    for n, used in enumerate(range(40_000, 167_000, 4_000), 1):
        lines += [an_answer(used, id=f"m{window}.{n}", calls=(f"t{n}",)), a_result(f"t{n}")]
    return [
        *lines,
        a_boundary(pre=167_050),
        a_summary(summary),
        an_answer(30_000, id=f"after {window}"),
    ]


def _session(name: str, *lines: dict[str, Any] | str, project: str = "", age: int = 0) -> Path:
    folder = Path.home() / ".claude" / "projects" / slug(project or "/srv/elsewhere")
    folder.mkdir(parents=True, exist_ok=True)
    here = {"cwd": project or "/srv/elsewhere"}
    placed = (line | here if isinstance(line, dict) else line for line in lines)
    path = a_transcript(folder / f"{name}.jsonl", *placed)
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(holdfast_command, ["replay", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.requirement("U8")
def test_a_compaction_says_what_was_not_found_and_what_is_restored(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "s1.jsonl", *_filled(summary=f"The user asked: “{KEPT}”"))
    [hit] = json.loads(_run(str(path), "--json"))["compactions"]
    [missing] = hit["not_found"]
    assert RULE in missing["text"] and hit["restored"] == [missing] and hit["items"] == 2
    assert (hit["messages"], hit["brief_tokens"] > 0) == (2, True)
    assert hit["warned_steps_ahead"] >= 5
    shown = " ".join(_run(str(path)).split())
    assert "not found in the summary: 1 of your 2 messages with enough words" in shown
    assert "Holdfast restores all of it" in shown
    assert f"warned {hit['warned_steps_ahead']} steps ahead: orange" in shown
    assert "Claude Code counted 167,050 tokens; Holdfast read" in shown


@pytest.mark.requirement("U8")
def test_what_a_compaction_has_no_line_for_is_counted(tmp_path: Path) -> None:
    rules = [f"Never paint the {name} boats after sunset." for name in ("red", "old", "far", "tin")]
    lines = _filled(summary="Nothing.")
    path = a_transcript(tmp_path / "s1.jsonl", *map(a_prompt, rules), *lines)
    [hit] = json.loads(_run(str(path), "--json"))["compactions"]
    assert len(hit["not_found"]) == 6
    assert "… 3 more: --json has all; `holdfast lost` shows" in _run(str(path))


@pytest.mark.requirement("U8")
def test_without_a_word_the_newest_session_of_this_folder_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = an_answer(20_000)
    _session("aaaa1111", a_prompt(), answer, age=0)
    mine = _session("bbbb2222", a_prompt(), answer, project=str(tmp_path.resolve()), age=60)
    _session("cccc3333", a_prompt(), answer, project=str(tmp_path.resolve()), age=90)
    assert str(mine) in _run()
    monkeypatch.chdir("/")
    assert "aaaa1111" in _run()


@pytest.mark.slow
@pytest.mark.requirement("U8")
def test_what_no_brief_has_room_for_is_named_as_not_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")  # five seconds for what is found by words
    lines: list[dict[str, Any] | str] = []
    for number in range(150):
        words = f"Lantern {number} hangs " + " ".join(f"{number}-{at}" for at in range(60))
        lines += [a_prompt(words), an_answer(20_000 + number, id=f"word {number}")]
    path = a_transcript(tmp_path / "s1.jsonl", *lines, *_filled(summary="nothing"))
    [hit] = json.loads(_run(str(path), "--json"))["compactions"]
    assert hit["not_restored"]
    assert len(hit["restored"]) + len(hit["not_restored"]) == len(hit["not_found"])
    missing = len(hit["not_restored"])
    shown = " ".join(_run(str(path)).split())
    assert f"there was no room for {missing} messages" in shown
