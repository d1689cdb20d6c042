"""The doctor fires what is installed, and tells truth from show."""

import json
import re
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import holdfast
from holdfast.cli.main import holdfast_command
from holdfast.client.sample_payloads import EVENTS
from holdfast.setup import wiring
from holdfast.setup.doctor import NO_SECOND_HALF
from holdfast.setup.rehearsal import FiredHook, read_output
from holdfast.wire import log

pytestmark = pytest.mark.slow  # whole processes: not for the inner loop


def _doctor(project: Path) -> tuple[int, dict[str, Any]]:
    with chdir(project):
        run = CliRunner().invoke(holdfast_command, ["doctor", "--json"])
    return run.exit_code, json.loads(run.stdout)


def _install() -> None:
    run = CliRunner().invoke(holdfast_command, ["install", "--yes"])
    assert run.exit_code == 0, run.output


@pytest.mark.requirement("U2", "U6", "X3", "B1", "B2", "C4")
def test_every_installed_hook_is_fired_and_what_reached_the_client_is_told(
    tmp_path: Path, own_home: Path
) -> None:
    _install()
    log.add("ERROR", "hook", "skipped one hook: ValueError: odd")
    code, found = _doctor(tmp_path)
    assert code == 0, found["troubles"]
    assert {hook["event"] for hook in found["hooks"]} == set(EVENTS)
    assert any(wiring.prints_second_half(hook["command"]) for hook in found["hooks"])
    reached = {hook["event"]: hook["reached_model"] for hook in found["hooks"]}
    assert "Finish the edit in hand before you begin the next task" in reached["PostToolUse"]
    assert not reached["PreCompact"].startswith("{"), "JSON there would become an instruction"
    assert "odd" in found["recent_errors"][0], "what hooks had to skip is shown"
    [server] = found["servers"]
    assert (server["path"], server["ok"]) == (str(own_home / ".claude.json"), True)
    assert {"status", "checkpoint", "resume", "board"} <= set(server["tools"])
    shown = _says()[1]
    saved = r"saved a checkpoint and told the summariser what to keep \(\d+ characters\)"
    assert re.search(saved, shown) and re.search(r"restored a brief of \d+ tokens", shown)
    assert "in a made-up session whose window is 99% full" in shown
    assert "All is well." not in shown, "directly below an error"
    assert "All checks passed. The errors above were logged" in shown
    assert not (own_home / ".holdfast" / "windows").exists(), "no session is left behind"


@pytest.mark.requirement("U2", "B2")
@pytest.mark.usefixtures("quick")
def test_a_missing_second_hook_is_told_with_what_it_costs(tmp_path: Path, own_home: Path) -> None:
    _install()
    path = own_home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    settings["hooks"]["SessionStart"].pop()
    path.write_text(json.dumps(settings))
    code, found = _doctor(tmp_path)
    assert code == 1
    [said] = found["troubles"]
    assert said == f"{NO_SECOND_HALF}; run `holdfast install`"
    _install()
    assert _doctor(tmp_path)[0] == 0


@pytest.mark.requirement("U2")
@pytest.mark.usefixtures("quick")
def test_a_missing_slash_command_is_told_and_install_brings_it_back(
    tmp_path: Path, own_home: Path
) -> None:
    _install()
    (own_home / ".claude/commands/holdfast/plan.md").unlink()
    code, found = _doctor(tmp_path)
    gone = "the slash command /holdfast:plan cannot be found; run `holdfast install`"
    assert (code, found["troubles"]) == (1, [gone])
    _install()
    assert _doctor(tmp_path)[0] == 0


@pytest.mark.requirement("U2", "U6")
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("command", "trouble"),
    [
        ("/gone/python3", "does not start"),
        ("/bin/true", "did not answer"),
        ("/bin/cat", "cat --help"),
    ],
)
def test_a_server_that_does_not_live_is_a_trouble(
    own_home: Path, tmp_path: Path, command: str, trouble: str
) -> None:
    _install()
    path = own_home / ".claude.json"
    state = json.loads(path.read_text())
    state["mcpServers"]["holdfast"]["command"] = command
    path.write_text(json.dumps(state))
    code, found = _doctor(tmp_path)
    assert code == 1
    [said] = found["troubles"]
    assert trouble in said
    assert "holdfast install" in said


@pytest.mark.requirement("U2", "B1", "B2", "C4")
@pytest.mark.usefixtures("quick")
def test_hooks_that_run_and_do_nothing_are_not_well(tmp_path: Path, own_home: Path) -> None:
    _install()
    path = own_home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    for event in ("PreCompact", "SessionStart"):
        for hook in settings["hooks"][event][0]["hooks"]:
            hook["command"] = " ".join(["/bin/true", *hook["command"].split(" ")[1:]])
    path.write_text(json.dumps(settings))
    code, found = _doctor(tmp_path)
    assert code == 1
    first, second = found["troubles"]
    assert "no checkpoint was saved and the summariser was not told what to keep" in first
    assert "no brief was restored" in second


@pytest.mark.requirement("U2")
def test_nothing_installed_is_trouble_and_the_doctor_leaves_no_folder(
    tmp_path: Path, own_home: Path
) -> None:
    code, found = _doctor(tmp_path)
    assert code == 1
    [trouble] = found["troubles"]
    assert "no hook of Holdfast is installed" in trouble
    assert list(own_home.iterdir()) == []


@pytest.mark.requirement("U2")
def test_a_settings_file_that_is_not_json_is_named_with_the_place_of_the_error(
    tmp_path: Path, own_home: Path
) -> None:
    path = own_home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "a": 1\n  "b": 2\n}\n')
    code, found = _doctor(tmp_path)
    assert code == 1
    first, second = found["troubles"]
    assert first.startswith(f"{path}: not valid JSON at line 3, column 3: ")
    assert first.endswith("; fix the file: Claude Code cannot read it either")
    assert second.startswith("no hook of Holdfast was found; fix that file, then run ")


@pytest.mark.requirement("U2", "X1")
def test_a_folder_that_was_moved_is_told_with_what_to_do(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(holdfast, "__file__", "/moved/away/holdfast/__init__.py")
        _install()
    code, found = _doctor(tmp_path)
    assert code == 1
    assert {hook["exit_code"] for hook in found["hooks"]} == {0}, "the client is not held up"
    gone = "/moved/away/holdfast/hook/__main__.py was not found, so nothing runs"
    hooks, line, server = found["troubles"]
    for said in (hooks, line):
        assert gone in said and "run `holdfast install`" in said
    assert "the MCP server" in server
    _install()
    assert _doctor(tmp_path)[0] == 0


@pytest.mark.requirement("U2")
@pytest.mark.usefixtures("quick")
def test_hooks_of_another_holdfast_are_told_apart_from_ours(tmp_path: Path, own_home: Path) -> None:
    _install()
    path = own_home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    other = wiring.Program("/other/bin/python", "/other/holdfast")
    settings["hooks"]["Stop"] += wiring.hook_table(program=other)["Stop"]
    path.write_text(json.dumps(settings))
    code, found = _doctor(tmp_path)
    assert code == 1
    [said] = found["troubles"]
    assert "hooks of another Holdfast, whose /other/bin/python is gone; remove them" in said
    assert all("/other/" not in hook["command"] for hook in found["hooks"])


def _says(*arguments: str) -> tuple[int, str, str]:
    run = CliRunner().invoke(holdfast_command, ["doctor", *arguments])
    return run.exit_code, run.stdout, run.stderr


def _change(own_home: Path, **settings: object) -> None:
    """None takes a setting out."""
    path = own_home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    held = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({k: v for k, v in (held | settings).items() if v is not None}))


def _line(command: str) -> dict[str, str]:
    return {"type": "command", "command": command}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks are fired by other tests; here all is well with them, at once."""

    def fired(commands: list[tuple[str, str]]) -> list[FiredHook]:
        return [FiredHook(event, command, True, 0, 1.0, "", "", "") for event, command in commands]

    monkeypatch.setattr("holdfast.setup.rehearsal.fire_all", fired)


@pytest.mark.requirement("U2", "U4")
@pytest.mark.usefixtures("quick")
def test_the_status_line_is_fired_with_the_one_it_wraps(tmp_path: Path, own_home: Path) -> None:
    _change(own_home, statusLine=_line("echo mine"))
    _install()
    code, found = _doctor(tmp_path)
    assert code == 0, found["troubles"]
    assert found["status_line"]["reached_user"].startswith("mine / ")
    assert "99% red" in found["status_line"]["reached_user"]
    assert "/compact now" in found["status_line"]["reached_user"], "as in a session, after a hook"
    assert found["notes"] == []


@pytest.mark.requirement("U2", "U4")
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("line", "trouble", "note"),
    [
        (None, "the status line is gone from", ""),
        (_line("/gone/python -I -S /x/holdfast/hook/__main__.py statusline"), "not found", ""),
        (_line(f"{wiring.status_command()} --wraps"), "", "without ours"),
        (_line(wiring.status_command().replace("-S /", "-S /not/here/")), "holdfast", ""),
        (_line("echo mine"), "", "without ours"),
    ],
)
def test_a_status_line_that_is_broken_or_gone_is_told(
    tmp_path: Path, own_home: Path, line: dict[str, str] | None, trouble: str, note: str
) -> None:
    _install()
    _change(own_home, statusLine=line)
    code, found = _doctor(tmp_path)
    assert code == (1 if trouble else 0)
    assert [trouble in said for said in found["troubles"]] == ([True] if trouble else [])
    assert all("run `holdfast install`" in said for said in found["troubles"])
    assert [note in said for said in found["notes"]] == ([True] if note else [])


@pytest.mark.requirement("U2")
@pytest.mark.usefixtures("quick")
def test_hooks_that_are_silenced_are_not_well(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install()
    monkeypatch.setenv("HOLDFAST_DISABLE", "1")
    assert "HOLDFAST_DISABLE is set in the environment" in _says()[2]
    monkeypatch.delenv("HOLDFAST_DISABLE")
    _change(own_home, disableAllHooks=True, env={"DISABLE_AUTO_CONTEXT_MANAGER": "1"})
    code, found = _doctor(tmp_path)
    assert code == 1
    first, second = found["troubles"]
    assert "disableAllHooks" in first
    assert "DISABLE_AUTO_CONTEXT_MANAGER is set in `env`" in second


@pytest.mark.requirement("U2", "U11")
@pytest.mark.usefixtures("quick")
def test_a_plugin_whose_environment_could_not_be_built_is_said(
    tmp_path: Path, own_home: Path
) -> None:
    _change(own_home, enabledPlugins={"holdfast@holdfast": True})
    places = own_home / ".holdfast"
    places.mkdir(mode=0o700, exist_ok=True)
    (places / "plugin").write_text(f"{tmp_path}\n")
    known = {"name": "env-1", "state": "failed", "words": "no such package", "at": 1}
    (tmp_path / "environment.json").write_text(json.dumps(known))
    troubles = _doctor(tmp_path)[1]["troubles"]
    assert any("could not be built: no such package" in trouble for trouble in troubles)


@pytest.mark.requirement("U2")
@pytest.mark.parametrize(
    ("event", "out", "trouble"),
    [
        ("PostToolUse", "", ""),
        ("PostToolUse", "plain", "not JSON"),
        ("PostToolUse", '{"hookSpecificOutput": {"additionalContext": "x"}}', "another event"),
        ("Stop", '{"hookSpecificOutput": {"hookEventName": "Stop"}}', "start the turn again"),
        ("PreCompact", '{"systemMessage": "x"}', "nothing may be printed"),
    ],
)
def test_what_the_client_would_throw_away_is_seen(event: str, out: str, trouble: str) -> None:
    assert trouble in read_output(event, out)[2]
    assert bool(read_output(event, out)[2]) == bool(trouble)


EVIL = [
    "{tool} -I -S {there}/holdfast/hook/__main__.py{word}",
    'python3 -I "$(touch {proof})/holdfast/hook/__main__.py"{word}',
    "{ours}; touch {proof} #/holdfast/hook/__main__.py{word}",
]


@pytest.mark.requirement("U2", "X7")
@pytest.mark.parametrize(
    ("name", "line"),
    [("settings.json", EVIL[0]), ("settings.local.json", EVIL[1]), ("settings.json", EVIL[2])],
)
def test_the_doctor_runs_no_line_that_came_with_a_repository(
    tmp_path: Path, name: str, line: str
) -> None:
    _install()
    proof, tool, project = tmp_path / "proof", tmp_path / "tool", tmp_path / "cloned"
    tool.write_text(f"#!/bin/sh\ntouch {proof}\n")
    tool.chmod(0o755)
    (project / ".claude").mkdir(parents=True)
    facts = {"tool": tool, "there": project, "proof": proof, "ours": wiring.hook_command()}
    hook, status = (line.format(word=word, **facts) for word in ("", " statusline"))
    hooks = {event: [{"hooks": [_line(hook)]}] for event in EVENTS}
    written = json.dumps({"hooks": hooks, "statusLine": _line(status)})
    (project / ".claude" / name).write_text(written)
    server = {"command": str(tool), "args": ["-I", f"{project}/holdfast/mcp/__main__.py"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"holdfast": server}}))
    code, found = _doctor(project)
    assert not proof.exists()
    assert code == 1
    assert any("MCP server" in one and "was not started" in one for one in found["troubles"])
    assert any("came with the project and was not run" in one for one in found["notes"])
    assert {hook["event"] for hook in found["hooks"]} == set(EVENTS), "the user's own were run"


@pytest.mark.requirement("U2")
def test_what_this_holdfast_wrote_into_a_project_is_run(tmp_path: Path) -> None:
    where = ["--scope", "project", "--project", str(tmp_path)]
    run = CliRunner().invoke(holdfast_command, ["install", "--yes", *where])
    assert run.exit_code == 0, run.output
    code, found = _doctor(tmp_path)
    assert code == 0, found["troubles"]
    assert {hook["event"] for hook in found["hooks"]} == set(EVENTS)
    assert any(wiring.prints_second_half(hook["command"]) for hook in found["hooks"])
    assert found["status_line"]["ok"]
    assert len(found["servers"]) == 1
