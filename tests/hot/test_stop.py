"""The stop guard as the client meets it: off it sleeps, on it objects once, with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.files.executable import console_command
from holdfast.hub import projection_file, row_times
from holdfast.wire import mark, places
from tests.builders import a_prompt, a_result, a_transcript, an_answer
from tests.hot.hooks import fire, window

pytestmark = pytest.mark.slow  # each is several hook processes

ON = {"HOLDFAST_STOP_GUARD": "on"}


def _transcript(folder: Path, used: int = 20_000, failed: bool = False) -> Path:
    calls = {"command": "make test"}
    answer = an_answer(used, id="m1", calls=("t1",))
    answer["message"]["content"][1]["input"] = calls
    result = a_result("t1", "Exit code 2\nboom: it broke badly" if failed else "fine")
    result["message"]["content"][0]["is_error"] = failed
    return a_transcript(
        folder / "t.jsonl", a_prompt("build the tide tables, please do"), answer, result
    )


def _session(
    folder: Path, environ: dict[str, str], used: int = 20_000, failed: bool = False
) -> Path:
    """One call was judged, so that a mark is armed; a checkpoint stands for what was used."""
    path = _transcript(folder, used, failed)
    fire("SessionStart", path, environ=environ)
    event = "PostToolUseFailure" if failed else "PostToolUse"
    fire(event, path, environ=environ, tool_use_id="t1", tool_name="Bash")
    return path


def _stop(path: Path, environ: dict[str, str] | None = None, **own: Any) -> dict[str, Any]:
    return fire("Stop", path, environ=environ if environ is not None else ON, **own)


@pytest.mark.requirement("G7", "X2")
def test_off_it_stays_asleep_whatever_is_left_undone(tmp_path: Path) -> None:
    path = _session(tmp_path, {}, failed=True)
    fire("SubagentStart", path)
    before = (window() / "state.json").stat().st_mtime_ns
    assert _stop(path, {}) == {}
    assert (window() / "state.json").stat().st_mtime_ns == before
    armed = mark.load(str(window()))
    assert armed is not None
    assert armed.stop == 0


@pytest.mark.requirement("G7")
def test_a_running_subagent_holds_a_stop_up_once(tmp_path: Path) -> None:
    path = _session(tmp_path, ON)
    fire("SubagentStart", path)
    said = _stop(path)
    assert said["decision"] == "block"
    assert "Still running: general-purpose a1b2c3d4e5f6." in said["reason"]
    assert _stop(path, stop_hook_active=True) == {}
    fire("SubagentStop", path)
    assert _stop(path) == {}


@pytest.mark.requirement("G7")
def test_an_open_error_holds_a_stop_up_until_the_command_passes(tmp_path: Path) -> None:
    path = _session(tmp_path, ON, failed=True)
    assert "Failed and not succeeded since: `make test`." in _stop(path)["reason"]
    again = an_answer(21_000, id="m2", calls=("t2",))
    again["message"]["content"][1]["input"] = {"command": "make test"}
    with path.open("a") as file:
        file.write(json.dumps(again) + "\n" + json.dumps(a_result("t2", "ok")) + "\n")
    assert _stop(path) == {}


@pytest.mark.requirement("G7")
def test_much_used_since_the_last_checkpoint_holds_a_stop_up(tmp_path: Path) -> None:
    path = _session(tmp_path, ON, used=60_000)
    reason = _stop(path)["reason"]
    assert "this session has no checkpoint" in reason
    assert f"run `{console_command()} checkpoint` to save one" in reason
    fire("PreCompact", path, environ={**ON, "CLAUDE_PROJECT_DIR": str(tmp_path)})
    fire("PostToolUse", path, environ=ON, tool_use_id="t1")
    assert _stop(path) == {}


@pytest.mark.requirement("G7")
@pytest.mark.parametrize("how", ["variable", "home", "window"])
def test_the_user_can_force_it(tmp_path: Path, how: str) -> None:
    path = _session(tmp_path, ON)
    fire("SubagentStart", path)
    assert _stop(path)["decision"] == "block"
    if how != "variable":
        folder = Path(places.home()) if how == "home" else window()
        (folder / "force-stop").touch()
    forced = {"HOLDFAST_FORCE_STOP": "1"} if how == "variable" else {}
    assert _stop(path, {**ON, **forced}) == {}


@pytest.mark.requirement("G7")
def test_agents_in_the_background_and_of_the_store_count_and_servers_do_not(tmp_path: Path) -> None:
    path = _session(tmp_path, ON)
    server = {"id": "b1", "type": "local_bash", "status": "running"}
    assert _stop(path, background_tasks=[server, "odd", {"type": 5}]) == {}
    agent = {"id": "b2", "type": "local_agent", "status": "running"}
    assert "local_agent b2" in _stop(path, background_tasks=[server, agent])["reason"]
    parts = [
        {"id": "s", "agent_id": "x1", "agent_type": "writer", "status": "running"},
        {"id": "p", "agent_id": "x2", "agent_type": "writer", "status": "paused"},
    ]
    tree = {"requests": [{"tasks": [{"subtasks": parts}]}]}
    told = {"version": 1, "at_ms": row_times.now_ms(), "session_id": "s1", "hierarchy": tree}
    projection_file.write(str(window()), told)
    assert "Still running: writer x1." in _stop(path)["reason"]
    said = _stop(path, background_tasks=[agent])["reason"]
    assert "Still running: local_agent b2, writer x1." in said
    projection_file.write(str(window()), {**told, "at_ms": 1})
    assert _stop(path) == {}, "nobody has said for hours that it still runs"


@pytest.mark.requirement("G7", "U3")
@pytest.mark.parametrize("on", [False, True])
def test_status_shows_the_same_facts_on_or_off(tmp_path: Path, on: bool) -> None:
    path = _session(tmp_path, ON if on else {}, failed=True)
    fire("SubagentStart", path)
    ran = CliRunner().invoke(holdfast_command, ["status", "s1", "--json"])
    found = json.loads(ran.stdout)["stop_guard"]
    assert found["on"] is on
    assert found["running_subtasks"] == ["general-purpose a1b2c3d4e5f6"]
    assert found["unresolved_errors"] == ["`make test`"]
    assert 0.1 < found["unsaved_ratio"] < 0.13
    assert found["reason"].startswith("Holdfast: Still running")
    if on:
        assert _stop(path)["reason"] == found["reason"]
    shown = CliRunner().invoke(holdfast_command, ["status", "s1"]).stdout
    assert "stop guard" in shown
    assert "general-purpose" in " ".join(shown.split())


def _status() -> dict[str, Any]:
    ran = CliRunner().invoke(holdfast_command, ["status", "s1", "--json"])
    found: dict[str, Any] = json.loads(ran.stdout)["stop_guard"]
    return found


@pytest.mark.requirement("G7")
def test_turned_on_and_off_in_the_settings_it_is_so_at_the_next_stop(tmp_path: Path) -> None:
    environ = {"CLAUDE_PROJECT_DIR": str(tmp_path)}
    path = _session(tmp_path, environ)
    fire("SubagentStart", path)
    file = Path(places.home()) / "settings.toml"
    assert (_stop(path, environ), _status()["on"]) == ({}, False)
    for _ in range(2):
        file.write_text('stop_guard = "on"\n')
        assert _status()["on"]
        assert _stop(path, environ)["reason"] == _status()["reason"]
        file.write_text("zone_red = 0.95\n")
        assert (_stop(path, environ), _status()["on"]) == ({}, False)
