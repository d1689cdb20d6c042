"""Fill, alerts, compaction, and filling again: told through the real hook processes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.window import audit
from holdfast.wire import log
from tests.builders import a_boundary, a_result, a_summary, a_transcript, an_answer
from tests.hot.hooks import fire, run, to_model, window


class Session:
    """A session that grows answer by answer, with a hook after every call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[dict[str, Any]] = []
        self.count = 0

    def call(self, used: int, **own: Any) -> str:
        """One answer with one tool call; what its hook told the model."""
        self.count += 1
        call = f"t{self.count}"
        at = f"2026-01-01T{self.count // 60:02}:{self.count % 60:02}:00.000Z"
        self.lines.append(an_answer(used, id=f"m{self.count}", calls=(call,), at=at))
        self.write()
        said = fire("PostToolUse", self.path, tool_use_id=call, **own)
        assert "systemMessage" not in said, "from an asynchronous hook it would reach the model"
        self.lines.append(a_result(call, "1"))
        self.write()
        return to_model(said)

    def write(self) -> None:
        a_transcript(self.path, *self.lines)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    fire("SessionStart")
    return Session(tmp_path / "s1.jsonl")


def _status(*arguments: str) -> dict[str, Any]:
    run = CliRunner().invoke(holdfast_command, ["status", "--json", *arguments])
    assert run.exit_code == 0, run.output
    found: dict[str, Any] = json.loads(run.output)
    return found


@pytest.mark.requirement("G2", "G5", "G8", "G9")
def test_a_window_fills_and_each_crossing_is_said_once(session: Session) -> None:
    thousands = (120, 126, 132, 138, 142, 147, 151, 154, 156, 159, 162, 164)
    heard = [session.call(used * 1_000) for used in thousands]
    told = [text for text in heard if text]
    assert [text.split(" of the way")[0][-3:] for text in told] == [
        "75%",
        "85%",
        "90%",
        "93%",
        "97%",
    ]
    assert "Finish the edit in hand before you begin the next task" in told[-1]
    levels = [event["level"] for event in audit.events()]
    assert levels == ["warning", "advisory", "urgent", "critical"]
    assert all(event["event"] == "CONTEXT_PRESSURE" for event in audit.events())
    logged = Path(log.path()).read_text()
    assert logged.count("zone yellow") == logged.count("alert warning") == 1
    assert logged.count("(guard)") >= 3


@pytest.mark.slow
@pytest.mark.requirement("G5")
def test_the_user_is_told_by_the_next_hook_that_can_be_seen(session: Session) -> None:
    assert session.call(126_000)
    said = fire("Stop", session.path)
    assert "(126k of 167k tokens)" in said["systemMessage"]
    assert "hookSpecificOutput" not in said, "context at Stop would start the turn again"
    assert fire("Stop", session.path) == {}
    assert session.call(143_000)
    assert "(143k of 167k tokens)" in fire("UserPromptSubmit", session.path)["systemMessage"]
    assert fire("UserPromptSubmit", session.path) == {}


@pytest.mark.requirement("G2", "G5")
def test_a_checkpoint_of_a_moment_ago_is_not_called_saved_now(session: Session) -> None:
    """An advisory saves none if there is one of the last two minutes."""
    session.call(120_000)
    fire("PreCompact", session.path)
    told = session.call(143_000)
    assert "Checkpoint saved" not in told and re.search(r"Last checkpoint \d+ s ago\. Go on", told)


@pytest.mark.requirement("W4")
def test_the_number_is_right_the_moment_after_a_compaction(session: Session) -> None:
    session.call(20_000)
    session.call(166_500)
    fire("PreCompact", session.path)
    status = _status()
    assert (status["basis"], status["compacting"]) == ("compacting", True)
    fire("SessionStart", session.path, source="compact", model="claude-sonnet-4-6")
    fire("PostCompact", session.path)
    assert _status()["compacting"] is True, "the file still shows the old usage"
    session.lines += [a_boundary(pre=167_385, post=4_000), a_summary()]
    session.write()
    status = _status()
    assert (status["basis"], status["zone"], status["estimated"]) == ("boundary", "green", False)
    assert 20_000 < status["used_tokens"] < 26_000, "post tokens and what every request holds"
    session.call(31_000)
    assert _status()["used_tokens"] == pytest.approx(31_000, abs=30)


@pytest.mark.slow
@pytest.mark.requirement("G2")
def test_after_a_compaction_alerts_fire_again_when_it_refills(session: Session) -> None:
    first = [text for used in (100_000, 143_000) if (text := session.call(used))]
    session.lines += [a_boundary(), a_summary()]
    assert session.call(25_000) == ""
    again = [text for used in (100_000, 143_000) if (text := session.call(used))]
    assert len(first) == len(again) == 1


@pytest.mark.slow
@pytest.mark.requirement("W5")
def test_a_subagent_has_a_window_of_its_own(session: Session) -> None:
    session.call(160_000)
    agent: dict[str, Any] = {"agent_id": "a1b2", "agent_type": "general-purpose"}
    fire("SubagentStart", session.path, **agent)
    own = session.path.with_suffix("") / "subagents" / "agent-a1b2.jsonl"
    a_transcript(own, an_answer(9_000, sidechain=True, calls=("x1",)))
    assert to_model(fire("PostToolUse", session.path, tool_use_id="x1", **agent)) == ""
    assert _status(str(own))["used_tokens"] < 10_000
    assert _status()["used_tokens"] > 159_000
    run = CliRunner().invoke(holdfast_command, ["status", "--all", "--json"])
    assert {one["agent_id"] for one in json.loads(run.output)} == {None, "a1b2"}
    fire("SubagentStop", session.path, **agent)
    run = CliRunner().invoke(holdfast_command, ["status", "--all", "--json"])
    assert {one["agent_id"] for one in json.loads(run.output)} == {None}


@pytest.mark.requirement("W5")
def test_the_compaction_s_own_agent_leaves_nothing(session: Session) -> None:
    fire("SubagentStop", session.path, agent_id="ae23", agent_type="")
    assert not window(agent="ae23").exists()


@pytest.mark.slow
@pytest.mark.requirement("W6")
def test_without_usage_the_fallbacks_come_in_order_and_say_so(tmp_path: Path) -> None:
    for _ in range(3):
        fire("PostToolUse", tmp_path / "none.jsonl", tool_name="Read")
    assert _status()["basis"] == "weights"
    silent = {"type": "user", "message": {"role": "user", "content": "x" * 2_300_000}}
    path = a_transcript(tmp_path / "t.jsonl", silent)
    fire("PostToolUse", path)
    status = _status()
    assert (status["basis"], status["zone"], status["estimated"]) == ("bytes", "yellow", True)
    counted = {"total_input_tokens": 700, "total_output_tokens": 50, "context_window_size": 200_000}
    run(json.dumps({"session_id": "s1", "context_window": counted}).encode(), "statusline")
    status = _status()
    assert (status["basis"], status["used_tokens"]) == ("status-line", 750)
