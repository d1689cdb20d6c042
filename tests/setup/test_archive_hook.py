"""The hook that archives long outputs is there for who asked for it, and for nobody else."""

import json
import shlex
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.install import ARCHIVE_CHARS
from holdfast.cli.main import holdfast_command
from holdfast.setup import wiring
from holdfast.setup.settings_text import installed_commands

from .machine import Desk
from .settings_samples import telling_first

pytestmark = pytest.mark.requirement("R7", "U1")


@pytest.fixture(autouse=True)
def here(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.project)
    monkeypatch.setenv("HOME", str(desk.home))
    monkeypatch.setenv("HOLDFAST_HOME", str(desk.ours))


def _call(line: str) -> str:
    run = CliRunner().invoke(holdfast_command, shlex.split(line))
    assert run.exit_code == 0, run.output
    return run.stdout


def _limit(desk: Desk) -> int:
    return wiring.archive_chars(installed_commands(desk.settings))


def _hook(desk: Desk) -> dict[str, Any]:
    groups = json.loads(desk.settings.read_text())["hooks"]["PostToolUse"]
    group: dict[str, Any] = groups[-1]
    return group


def test_it_waits_and_looks_only_at_tools_that_print_much(desk: Desk) -> None:
    _call("install --yes --archive-outputs")
    group = _hook(desk)
    assert "async" not in group["hooks"][0], "an asynchronous hook cannot change an output"
    assert group["matcher"] == "Bash|Grep|WebFetch|WebSearch|mcp__.*"
    assert group["hooks"][0]["command"].endswith(f" archive {ARCHIVE_CHARS} || :")


@pytest.mark.slow
def test_installing_again_keeps_what_was_asked_for_until_it_is_taken_back(desk: Desk) -> None:
    _call("install --yes --archive-outputs 20000")
    assert "nothing to change" in _call("install --yes")
    assert _limit(desk) == 20_000
    _call("install --yes --archive-outputs 9000")
    assert _limit(desk) == 9_000
    _call("install --yes --archive-outputs 0")
    assert _limit(desk) == 0
    assert "nothing to change" in _call("install --yes")


@pytest.mark.slow
@telling_first
def test_leaving_takes_it_out_to_the_byte(desk: Desk, data: bytes) -> None:
    desk.write(data)
    before = desk.tree()
    _call("install --yes --archive-outputs")
    assert _limit(desk) == ARCHIVE_CHARS
    _call("uninstall --yes")
    assert desk.tree() == before
