"""After a checkpoint nobody is told to take one: whoever took it says how full the window was."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.mcp.tool_table import CheckpointArguments
from holdfast.mcp.tools import checkpoints as tool
from holdfast.run import prompt
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire

NOW_MS = 1_800_000_000_000


def _json(*arguments: str) -> dict[str, Any]:
    found = CliRunner().invoke(holdfast_command, [*arguments, "--json"])
    assert found.exit_code == 0, found.output
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


@pytest.fixture
def grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its hooks judged it at 20,000 tokens and slept since; now it is past 60 % of the edge."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    path = tmp_path / "s1.jsonl"
    a_transcript(path, a_prompt(), an_answer(20_000, id="m1"))
    fire("PostToolUse", path, environ={"CLAUDE_PROJECT_DIR": str(tmp_path)}, cwd=str(tmp_path))
    return a_transcript(path, a_prompt(), an_answer(20_000, id="m1"), an_answer(110_000, id="m2"))


def _asked() -> tuple[str, float]:
    found = _json("status", "s1")
    return found["recommended_action"], found["stop_guard"]["unsaved_ratio"]


@pytest.mark.requirement("C1", "U3")
@pytest.mark.parametrize("taker", ["a command", "the tool", "a batch", "the end"])
def test_a_checkpoint_of_a_window_whose_hooks_sleep_settles_what_was_asked_for(
    grown: Path, taker: str
) -> None:
    action, unsaved = _asked()
    assert action == "trigger_checkpoint" and unsaved > 0.5
    if taker == "a command":
        _json("checkpoint", "s1")
    elif taker == "the tool":
        tool.answer_checkpoint(CheckpointArguments())
    elif taker == "a batch":
        prompt.save_checkpoint("s1", grown.parent, ["left: nothing"], NOW_MS)
    else:
        fire("SessionEnd", grown, cwd=str(grown.parent))
    assert _asked() == ("none", 0.0)


@pytest.mark.requirement("C1", "U3")
def test_a_checkpoint_whose_file_is_gone_is_named_so_and_counts_as_unsaved(grown: Path) -> None:
    path = Path(_json("checkpoint", "s1")["path"])
    assert _asked() == ("none", 0.0)
    path.unlink()
    assert _asked()[1] > 0.5
    found = _json("status", "s1")
    gone = (found["checkpoint_path"], found["checkpoint_ms"], found["checkpoint_removed"])
    assert gone == (None, None, str(path))
    shown = " ".join(CliRunner().invoke(holdfast_command, ["status", "s1"]).stdout.split())
    assert f"checkpoint {path.stem}, its file is gone {path}" in shown
    assert "of the limit: no checkpoint" in shown and "just now (manual)" not in shown
    assert Path(_json("checkpoint", "s1")["path"]).is_file()
    assert _asked() == ("none", 0.0) and not _json("status", "s1")["checkpoint_removed"]
