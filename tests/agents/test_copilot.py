"""Copilot's sessions: history, fill and what a summary holds."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.client.agents import session_of
from holdfast.client.compaction_limit import find
from holdfast.transcript.entries import Answer, Boundary, Prompt, Result, Summary
from holdfast.transcript.lookup import compactions
from holdfast.transcript.reader import read
from holdfast.window import state
from holdfast.wire import places, tail
from tests.hot import hooks

from .test_install import call

pytestmark = pytest.mark.requirement("U12")
SESSION = "9f793f79-ad76-40f8-bff4-9b4f860989eb"
RULE = "Never use tabs in the Makefile of payments."


def a_session(home: Path, cwd: Path, *, compacted: bool = False) -> Path:
    """Written line by line as 1.0.102 writes it."""
    shell = {"toolCallId": "t1", "name": "bash", "arguments": {"command": "ls /nope"}}
    changed = {"path": "/p/a.py", "old_str": "x = 1", "new_str": "x = 2"}
    edit = {"toolCallId": "t2", "name": "edit", "arguments": changed}
    usage: dict[str, Any] = {"model": "claude-sonnet-4.5", "apiCallId": "m1", "inputTokens": 60_000}
    usage |= {"cacheReadTokens": 50_000, "outputTokens": 500, "maxPromptTokens": 168_000}
    rows: list[tuple[str, dict[str, Any]]] = [
        (
            "session.start",
            {"sessionId": SESSION, "copilotVersion": "1.0.102", "context": {"cwd": str(cwd)}},
        ),
        ("user.message", {"content": RULE, "transformedContent": f"<now>\n{RULE}"}),
        ("system.message", {"role": "system", "content": "You are a tool."}),
        ("session.usage_record", {"usage": usage}),
        (
            "assistant.message",
            {"apiCallId": "m1", "content": "I look.", "toolRequests": [shell, edit]},
        ),
        (
            "tool.execution_complete",
            {
                "toolCallId": "t1",
                "success": True,
                "shellExecution": {"exitCode": 2},
                "result": {"content": "ls: /nope is not there"},
            },
        ),
        (
            "tool.execution_complete",
            {"toolCallId": "t2", "success": True, "result": {"content": "updated"}},
        ),
    ]
    if compacted:
        done = {"success": True, "summaryContent": "We looked.", "postCompactionTokens": 11_758}
        rows += [
            ("session.compaction_start", {"currentTokens": 165_045}),
            ("session.compaction_complete", done),
        ]
    path = home / ".copilot" / "session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        {"type": kind, "data": data, "timestamp": "2026-11-19T06:52:40.170Z"} for kind, data in rows
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_its_lines_are_read_as_those_of_claude_code(own_home: Path, tmp_path: Path) -> None:
    path = a_session(own_home, tmp_path, compacted=True)
    entries = list(read(path))
    assert [one.text for one in entries if isinstance(one, Prompt)] == [RULE]
    answers = [one for one in entries if isinstance(one, Answer)]
    assert {one.message_id for one in answers} == {"m1"}
    assert answers[0].usage.total_tokens == 60_500
    failed = [
        one.is_error for entry in entries if isinstance(entry, Result) for one in entry.results
    ]
    assert failed == [True, False]
    [boundary] = [one for one in entries if isinstance(one, Boundary)]
    assert (boundary.pre_tokens, boundary.post_tokens) == (165_045, 11_758)
    assert [one.text for one in entries if isinstance(one, Summary)] == ["We looked."]
    assert compactions(path).count == 1
    assert session_of(path) == SESSION


def test_the_window_is_as_full_as_its_last_answer_or_compaction_says(
    own_home: Path, tmp_path: Path
) -> None:
    end = tail.read(str(a_session(own_home, tmp_path)))
    assert (end.answer_tokens, end.window_tokens) == (60_500, 168_000)
    end = tail.read(str(a_session(own_home, tmp_path, compacted=True)))
    assert end.used_tokens(4.0, 0) == 11_758
    limit = find("claude-sonnet-4.5", "copilot 1.0.102", stated_window=168_000)
    assert limit.edge_tokens == 134_400


def test_a_hook_that_is_told_of_no_transcript_finds_it(own_home: Path, tmp_path: Path) -> None:
    path = a_session(own_home, tmp_path)
    run = json.dumps({"hook_event_name": "SessionStart", "session_id": SESSION, "source": "new"})
    assert hooks.run(run.encode()).returncode == 0
    assert state.load(places.window(SESSION)).transcript == str(path)
    assert "60,525 of 134,400" in call("status")


def test_its_past_sessions_are_found_by_every_command(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_session(own_home, tmp_path, compacted=True)
    monkeypatch.chdir(tmp_path)
    assert SESSION[:8] in call("status", "--all")
    assert RULE in call("brief", SESSION[:12])
    assert RULE[:30] in call("lost")
    assert RULE in call("search", "Makefile payments tabs")
