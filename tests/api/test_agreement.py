"""Whoever is asked how full a window is, the answer is the same: `status`, the API, Prometheus and
the MCP tool, to the token; also where no hook has told of it since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.cli.status import status
from holdfast.client import sample_payloads
from holdfast.hub import row_times
from holdfast.hub.ingest import sync
from holdfast.hub.store.store import Store
from holdfast.settings.load import load
from holdfast.window import state as states
from holdfast.window import windows
from tests.api.test_capacity import a_window
from tests.builders import an_answer
from tests.hot.hooks import fire

SAME = (
    "status",
    "recommended_action",
    "zone",
    "alert",
    "room_tokens",
    "velocity_tokens_per_op",
    "ops_left",
    "minutes_left",
    "checkpoint_ms",
)
TASK = 100_000


class Machine:
    """A session and a subagent of it, with hooks."""

    def __init__(self, place: Path, store: Store) -> None:
        self.main = place / "s1.jsonl"
        self.agent = place / "s1" / "subagents" / "agent-a1.jsonl"
        self.agent.parent.mkdir(parents=True)
        self._store = store
        self._count = 0
        for used in (20_000, 26_000, 33_000):
            self.grows(used)
            self.hook("PostToolUse")
            self.hook("PostToolUse", agent_id="a1", agent_type="reviewer")

    def grows(self, used: int) -> None:
        self._count += 1
        for path, more in ((self.main, 0), (self.agent, 7)):
            line = an_answer(used + more, id=f"m{self._count}", sidechain=path is self.agent)
            self.write(path, line)

    def write(self, path: Path, *lines: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    def hook(self, event: str, **own: Any) -> None:
        fire(event, self.main, **own)
        sync.sync(self._store)


@pytest.fixture
def machine(tmp_path: Path, store: Store) -> Machine:
    return Machine(tmp_path, store)


def _status() -> dict[str, dict[str, Any]]:
    found = CliRunner().invoke(status, ["--all", "--json"])
    return {one["agent_id"] or one["session_id"]: one for one in json.loads(found.stdout)}


def _must_agree(api: TestClient) -> dict[str, dict[str, Any]]:
    """What `status` says, where all others say the same."""
    told = _status()
    asked = api.get(f"/api/context/health?fits={TASK}").json()["agents"]
    assert {one["agent_id"]: {name: one[name] for name in SAME} for one in asked} == {
        who: {name: one[name] for name in SAME} for who, one in told.items()
    }
    assert {one["agent_id"]: one["fits"] for one in asked} == {
        who: one["room_tokens"] >= TASK for who, one in told.items()
    }
    metrics = api.get("/metrics").text
    for one in told.values():
        labels = f'agent_id="{one["agent_id"] or ""}",alert="{one["alert"] or ""}"'
        assert f"used_tokens{{{labels}" in metrics, one
        assert f'zone="{one["zone"]}"}} {one["used_tokens"]:.1f}' in metrics
    for one in _company():
        assert all(one[name] == told["a1"][name] for name in windows.READ)
        assert one["fits"] is (one["room_tokens"] >= TASK)
    return told


def _company() -> list[dict[str, Any]]:
    """As the MCP tool tells of it, to the session itself."""
    mine = next(state for _, state in states.all_windows() if not state.agent_id)
    return windows.peers_of(mine, load(), row_times.now_ms(), TASK)


@pytest.mark.requirement("G10")
def test_all_agree_at_every_moment_of_a_session(api: TestClient, machine: Machine) -> None:
    assert _must_agree(api)["s1"]["used_tokens"] >= 33_000
    machine.grows(100_000)
    assert _must_agree(api)["a1"]["used_tokens"] == 100_007, "no hook has told of that"
    machine.hook("PreCompact")
    assert _must_agree(api)["s1"]["compacting"]
    machine.write(machine.main, *sample_payloads.compacted_lines())
    machine.hook("SessionStart", source="compact")
    machine.hook("PostCompact")
    assert _must_agree(api)["s1"]["used_tokens"] < 50_000, "it was freed"
    assert len(_company()) == 1


@pytest.mark.requirement("G10")
def test_who_has_ended_is_given_no_work(api: TestClient, machine: Machine) -> None:
    machine.hook("SubagentStop", agent_id="a1", agent_type="reviewer", stop_hook_active=True)
    assert list(_must_agree(api)) == ["s1"]
    assert _company() == []
    machine.hook("SessionEnd")
    assert _must_agree(api) == {}
    machine.hook("SessionStart", source="resume")
    assert list(_must_agree(api)) == ["s1"], "it goes on"


@pytest.mark.requirement("G10", "X3")
def test_a_path_that_another_machine_told_is_not_opened(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(an_answer(20_000)) + "\n")
    a_window(store, health={"transcript": str(other)})
    assert api.get("/api/context/health").json()["agents"][0]["room_tokens"] == 27_000
