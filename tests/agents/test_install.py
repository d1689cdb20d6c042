"""`install --agent codex`: our hooks in Codex's own file, and out of it again."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.setup.wiring import plugin_table

from .rollouts import SESSION, Rollout, compressed

pytestmark = pytest.mark.requirement("U12", "U1")


def call(*words: str) -> str:
    run = CliRunner().invoke(holdfast_command, words)
    assert run.exit_code == 0, run.output
    return run.output


@pytest.mark.parametrize("before", [None, '{"hooks": {"Stop": [{"hooks": []}]},  "mine": 1}\n'])
def test_its_hooks_come_and_go(own_home: Path, before: str | None) -> None:
    file = own_home / ".codex" / "hooks.json"
    if before is not None:
        file.parent.mkdir()
        file.write_text(before)
    said = call("install", "--agent", "codex", "--yes")
    assert "/hooks" in said  # without trust nothing runs, and nothing is said
    hooks = json.loads(file.read_text())["hooks"]
    ours = [one for group in hooks["SessionStart"] for one in group["hooks"]]
    assert {one["additionalContextLimit"] for one in ours} == {10_000}
    assert "statusLine" not in json.loads(file.read_text())
    assert "nothing to change" in call("install", "--agent", "codex", "--yes")
    call("uninstall", "--agent", "codex", "--yes")
    assert (file.read_text() if file.exists() else None) == before


def test_both_agents_can_have_it(own_home: Path) -> None:
    call("install", "--yes", "--no-mcp")
    call("install", "--agent", "codex", "--yes")
    call("uninstall", "--yes")
    assert (own_home / ".codex" / "hooks.json").is_file()


def test_beside_its_plugin_it_is_refused_and_doctor_says_what_runs_twice(own_home: Path) -> None:
    codex = own_home / ".codex"
    hooks = codex / "plugins" / "cache" / "shop" / "holdfast" / "0.2.0" / "hooks" / "hooks.json"
    hooks.parent.mkdir(parents=True)
    hooks.write_text(json.dumps({"hooks": plugin_table()}))
    config = codex / "config.toml"
    config.write_text('[plugins."holdfast@shop"]\nenabled = true\n')
    words = ("install", "--agent", "codex", "--yes")
    refused = CliRunner().invoke(holdfast_command, words).exception
    assert "already installed in plugin scope" in str(refused)
    config.write_text('[plugins."holdfast@shop"]\nenabled = false\n')
    call(*words)
    config.write_text('[plugins."holdfast@shop"]\n')
    told = CliRunner().invoke(holdfast_command, ["doctor"]).output
    assert "not trusted" in " ".join(told.split())
    assert "run `holdfast uninstall --agent codex` for one of them" in " ".join(told.split())


def test_past_sessions_of_both_agents_are_found(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = own_home / ".codex" / "sessions" / "2026" / "11" / "19"
    session = Rollout(cwd=str(tmp_path)).user("Never use tabs.").ends("I do not.", 40_000)
    path = session.written(place)
    monkeypatch.chdir(tmp_path)
    assert SESSION[:8] in call("status", "--all")
    assert "Never use tabs." in call("brief", SESSION[:12])
    assert "40,000" in call("status")
    assert "Never use tabs." in call("search", "tabs")
    compressed(path)
    assert "Never use tabs." in call("brief", SESSION[:12])
