"""A session without hooks that the watcher looks after is seen wherever live ones are listed."""

import json
import time
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.status import status
from holdfast.cli.status import watch as watch_command
from holdfast.watcher.watch import Watch
from holdfast.window import state as states
from holdfast.window.live_windows import LIVE_MS
from holdfast.wire import places
from tests.watcher.machine import FULL, ROOMY, Machine, looked


@pytest.fixture
def today(machine: Machine) -> Machine:
    """Commands ask the machine's own clock."""
    machine.now_ms = int(time.time() * 1000) - 60_000
    return machine


def _all() -> list[dict[str, Any]]:
    found = CliRunner().invoke(status, ["--all", "--json"])
    assert found.exit_code == 0, found.output
    listed: list[dict[str, Any]] = json.loads(found.output)
    return listed


@pytest.mark.requirement("A5")
def test_a_session_without_hooks_is_listed_with_its_agents(watch: Watch, today: Machine) -> None:
    path = today.session("s1", ROOMY)
    today.agent(path, "a1", FULL)
    assert _all() == []
    looked(watch, today)
    found = {(one["session_id"], one["agent_id"]): one["used_tokens"] for one in _all()}
    assert found == {("s1", None): ROOMY, ("s1", "a1"): FULL}
    named = CliRunner().invoke(status, ["s1", "--json"])
    assert json.loads(named.output)["heard_ms"] is None
    table = CliRunner().invoke(watch_command, []).output
    assert ("s1" in table, "no live session" in table) == (True, False)


@pytest.mark.requirement("A5")
def test_one_that_fell_silent_is_no_longer_live(watch: Watch, today: Machine) -> None:
    today.session("s1")
    looked(watch, today)
    with states.lock_state(places.window("s1")) as state:
        assert (state.at_ms, state.started_ms) == (0, 0)
        state.watched_ms -= LIVE_MS
    assert _all() == []


@pytest.mark.requirement("A5")
def test_what_a_hook_noted_is_left_to_hooks(watch: Watch, today: Machine) -> None:
    path = today.session("s1")
    with states.lock_state(places.window("s1")) as state:
        state.session_id, state.transcript, state.started_ms = "s1", str(path), 1
    before = states.load(places.window("s1")).as_dict()
    looked(watch, today)
    assert states.load(places.window("s1")).as_dict() == before
