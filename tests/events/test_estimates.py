"""A session without one usage number: every reading of it says that it is an estimate."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.window import audit, history
from holdfast.wire import log, spool
from tests.builders import a_boundary, a_prompt, a_summary, a_transcript, an_answer
from tests.hot.hooks import fire, run, to_model, window

SHARE = re.compile(r"\d+(?:\.\d)?%")


def _without_usage(path: Path, kilobytes: int = 3_449) -> Path:
    lines = [{"type": "progress", "data": "n" * 1_000} for _ in range(kilobytes)]
    return a_transcript(path, a_prompt(), *lines)


def _run(*arguments: str) -> str:
    found = CliRunner().invoke(holdfast_command, arguments)
    assert found.exit_code == 0, found.output
    return found.output


def _marked(text: str) -> bool:
    """Every share of the window in this text has an "about" before it, and there is one."""
    shares = list(SHARE.finditer(text))
    return bool(shares) and all(text[: one.start()].endswith("about ") for one in shares)


@pytest.mark.requirement("W10")
def test_the_model_the_user_and_the_log_read_that_it_is_an_estimate(tmp_path: Path) -> None:
    path = _without_usage(tmp_path / "s1.jsonl")
    told = to_model(fire("PostToolUse", path))
    assert "is about 92% of the way to compaction" in told
    owed = fire("Stop", path)["systemMessage"]
    assert "is about 92% of the way to compaction (about 888k of 967k tokens)" in owed
    logged = [line for line in Path(log.path()).read_text().splitlines() if "used" in line]
    assert logged
    assert all("about 91.8% used (about 888,000 tokens)" in line for line in logged)
    assert all(event["estimated"] is True for event in audit.events())
    assert any(True for _ in audit.events())


@pytest.mark.requirement("W8", "W10")
def test_a_call_before_the_first_answer_is_written_is_no_reading(tmp_path: Path) -> None:
    """A quick first call: the file holds the prompt alone, and the result is a word."""
    path = a_transcript(tmp_path / "s1.jsonl", a_prompt("Go."))
    fire("PostToolUse", path, tool_use_id="t1")
    a_transcript(path, a_prompt("Go."), an_answer(30_000, id="m1", calls=("t1", "t2")))
    fire("PostToolUse", path, tool_use_id="t2")
    first, second = spool.lines(str(window()))
    assert first.used < 100 and not first.tells_fill()
    assert history.spooled_readings(str(window())) == [second.used]
    assert second.used > 30_000


@pytest.mark.slow
@pytest.mark.requirement("W10")
def test_commands_say_about(tmp_path: Path) -> None:
    path = _without_usage(tmp_path / "s1.jsonl")
    fire("PostToolUse", path)
    status = _run("status", "s1")
    assert "about 91.8%" in status
    assert "about 888,160 of 967,000 tokens" in status
    assert _marked(status.splitlines()[0])
    assert "about 92%" in _run("watch")
    assert "about 91.8% of the compaction limit used" in _run("budget")


@pytest.mark.requirement("W10")
def test_an_exact_reading_is_stated_without_about(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "s1.jsonl", an_answer(143_000))
    told = to_model(fire("PostToolUse", path))
    assert "is 86% of the way to compaction" in told
    assert "about" not in _run("status").splitlines()[0]


@pytest.mark.requirement("U4", "W4")
def test_the_status_line_shows_no_alert_of_the_window_before_a_compaction(tmp_path: Path) -> None:
    """After a compaction of an idle session no hook runs until somebody types."""
    path = a_transcript(tmp_path / "s1.jsonl", a_prompt(), an_answer(980_000))
    fire("PostToolUse", path)
    sent = json.dumps({"session_id": "s1", "transcript_path": str(path)}).encode()
    assert "/compact now" in run(sent, "statusline", environ={"NO_COLOR": "1"}).stdout.decode()
    a_transcript(path, a_prompt(), an_answer(980_000), a_boundary(post=20_000), a_summary("Done."))
    line = run(sent, "statusline", environ={"NO_COLOR": "1"}).stdout.decode()
    assert "green" in line and "/compact" not in line
