"""The doctor fires what is installed, and tells truth from show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.client.doctor import understood
from holdfast.client.payloads import EVENTS
from holdfast.wire import log


def _doctor(project: Path) -> tuple[int, dict[str, Any]]:
    run = CliRunner().invoke(holdfast_command, ["doctor", "--json", "--project", str(project)])
    return run.exit_code, json.loads(run.stdout)


def _install() -> None:
    run = CliRunner().invoke(holdfast_command, ["install", "--yes"])
    assert run.exit_code == 0, run.output


@pytest.mark.requirement("U2", "X3")
def test_every_installed_hook_is_fired_and_what_reached_the_client_is_told(
    tmp_path: Path, own_home: Path
) -> None:
    _install()
    log.add("ERROR", "hook", "skipped one hook: ValueError: odd")
    code, found = _doctor(tmp_path)
    assert code == 0, found["troubles"]
    assert {hook["event"] for hook in found["hooks"]} == set(EVENTS)
    reached = {hook["event"]: hook["reached_model"] for hook in found["hooks"]}
    assert "Start nothing new" in reached["PostToolUse"]
    assert reached["PreCompact"] == ""
    assert "odd" in found["recent_errors"][0], "what hooks had to skip is shown"
    assert not (own_home / ".holdfast" / "windows").exists(), "no session is left behind"


@pytest.mark.requirement("U2")
def test_nothing_installed_is_trouble(tmp_path: Path) -> None:
    code, found = _doctor(tmp_path)
    assert code == 1
    assert "no hook of ours is installed" in found["troubles"][0]


@pytest.mark.requirement("U2")
def test_a_python_that_is_gone_is_trouble(tmp_path: Path, own_home: Path) -> None:
    _install()
    path = own_home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    for groups in settings["hooks"].values():
        for hook in groups[0]["hooks"]:
            words = hook["command"].split(" ")
            hook["command"] = " ".join(["/gone/python", *words[1:]])
    path.write_text(json.dumps(settings))
    code, found = _doctor(tmp_path)
    assert code == 1
    assert all(not hook["ok"] for hook in found["hooks"])
    assert any("not found" in trouble for trouble in found["troubles"])


@pytest.mark.requirement("U2")
@pytest.mark.parametrize(
    ("event", "out", "trouble"),
    [
        ("PostToolUse", "", ""),
        ("PostToolUse", "plain", "not JSON"),
        ("PostToolUse", "[]", "no object"),
        ("PostToolUse", '{"hookSpecificOutput": {"additionalContext": "x"}}', "another event"),
        ("Stop", '{"hookSpecificOutput": {"hookEventName": "Stop"}}', "start the turn again"),
        ("PreCompact", '{"systemMessage": "x"}', "nothing may be printed"),
    ],
)
def test_what_the_client_would_throw_away_is_seen(event: str, out: str, trouble: str) -> None:
    assert trouble in understood(event, out)[2]
    assert bool(understood(event, out)[2]) == bool(trouble)
