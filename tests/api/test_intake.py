"""What another machine tells is anyone's words: redacted again, bounded, never a 500."""

import json
import uuid
from typing import Any

import pytest
from fastapi.testclient import TestClient

from holdfast.hub import row_times
from holdfast.hub.store.store import Store
from holdfast.hub.tree import readings
from holdfast.window.live_windows import LIVE_MS
from tests.contracts.session_script import rows_of

TOKEN = "ghp_" + "a1B2" * 9
PROJECT, SESSION = str(uuid.UUID(int=1)), "s1"
ONE, TWO, THREE = (str(uuid.UUID(int=n)) for n in (2, 3, 4))
PLACE = {"session_id": SESSION, "project_id": PROJECT, "at_ms": 5}
MET: list[dict[str, Any]] = [
    {"deed": "project", "id": PROJECT, "path": "/p", "first_ms": 1, "last_ms": 9},
    {"deed": "session", "id": SESSION, "project_id": PROJECT, "first_ms": 1, "last_ms": 9},
]
WORDY: list[dict[str, Any]] = [
    {"deed": "request", "id": ONE, "prompt": f"use {TOKEN} now", **PLACE},
    {"deed": "task", "id": TWO, "at_ms": 5, "request_id": ONE, "name": f"with {TOKEN}"},
    {
        "deed": "subtask", "id": THREE, "task_id": TWO, "request_id": ONE, "agent_id": "a1",
        "description": f"give it {TOKEN}", **PLACE,
    },
    {
        "deed": "action", "id": ONE, "told_by": "hook", "tool_name": "Bash", "tool_type": "builtin",
        "input": f"curl -H 'X: {TOKEN}'", "file_paths": [f"/p/{TOKEN}"], **PLACE,
    },
    {
        "deed": "context", "id": TWO, "agent_id": "a1", "agent_type": "t", "skills": [TOKEN],
        "progress_summary": f"{TOKEN} was used", **PLACE,
    },
    {"deed": "window", "used_tokens": 7, "health": {"note": TOKEN, "used": 150_000}, **PLACE},
    {"deed": "compaction", "count": 1, "summary": f"remember {TOKEN}", "trigger": TOKEN, **PLACE},
    {"deed": "readings", **PLACE, "step": [1, 2], "at_ms": [5, 6], "used_tokens": [7, 8]},
    {"deed": "audit", "id": TWO, "kind": "K", "at_ms": 5, "body": {"password": "hunter2hunter2"}},
    {
        "deed": "checkpoint", "id": THREE, "checkpoint_id": "c", "path": "/p/c.md",
        "summary": f"kept {TOKEN}", "snapshot": {"deep": [{TOKEN: [TOKEN]}]}, **PLACE,
    },
]  # fmt: skip


def _batch(script: list[Any], since: Any = None, until: Any = None) -> dict[str, Any]:
    return {
        "source": "window:m:s1/main",
        "since": since or {},
        "until": until or {"at": 1},
        "deeds": script,
        "version": 1,
    }


@pytest.mark.requirement("X4", "S4")
def test_a_sender_that_redacted_nothing_gets_no_secret_in(api: TestClient, store: Store) -> None:
    assert api.post("/api/intake", json=_batch([*MET, *WORDY])).status_code == 200
    found = json.dumps(rows_of(store))
    assert TOKEN not in found
    assert "hunter2" not in found
    assert "use [redacted: github token] now" in found
    assert TOKEN not in api.get("/api/events", headers={"Accept": "application/json"}).text


@pytest.mark.requirement("U5", "S4")
def test_the_curve_of_a_session_on_another_machine_can_be_drawn(api: TestClient) -> None:
    assert api.post("/api/intake", json=_batch([*MET, *WORDY])).status_code == 200
    found = api.get(f"/api/sessions/{SESSION}/readings").json()
    assert (found["step"], found["used_tokens"]) == ([1, 2], [7, 8])
    assert [one["number"] for one in found["compactions"]] == [1]
    detail = api.get(f"/api/compactions/{SESSION}/1").json()
    assert not detail["is_available"] and "not on this machine" in detail["note"]
    uneven = {"deed": "readings", **PLACE, "step": [1], "at_ms": [], "used_tokens": []}
    refused = api.post("/api/intake", json=_batch([*MET, uneven], {"at": 1}))
    assert refused.status_code == 400 and "different lengths" in refused.text


HOSTILE: list[Any] = [
    "\x00", "a\x00b", "\ud83d", "x" * 10_000, "", " ", "../../etc", "%", "'; DROP TABLE a;--",
    "\u202e", "\U0001d54f" * 200, -1, 0, 2**53, 2**63, 1.5, True, None, [], {}, [[[]]],
    {"a": {"b": None}},
]  # fmt: skip
ALL = [*MET, *WORDY]


@pytest.mark.requirement("X7", "S4")
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(n, id=one["deed"], marks=() if one["deed"] == "audit" else pytest.mark.slow)
        for n, one in enumerate(ALL)
    ],
)
def test_every_field_may_hold_anything_and_nothing_is_a_500(api: TestClient, number: int) -> None:
    for field in ALL[number]:
        for odd in HOSTILE:
            script = [*ALL[:number], {**ALL[number], field: odd}, *ALL[number + 1 :]]
            data = json.dumps(_batch(script, {"at": 99})).encode()
            status = _post(api, data)
            assert status in (400, 409), (field, odd)


def _post(api: TestClient, data: bytes) -> int:
    return api.post(
        "/api/intake", content=data, headers={"Content-Type": "application/json"}
    ).status_code


HOSTILE = [{"used_ratio": "abc"}, {"edge_tokens": 10**300}, {"zone": 5}]


@pytest.mark.requirement("S4", "X7", "G10")
@pytest.mark.parametrize("health", HOSTILE)
def test_health_that_nobody_can_count_with_is_refused_by_name(
    api: TestClient, health: dict[str, Any]
) -> None:
    now = row_times.now_ms()
    seen = {"deed": "window", "used_tokens": 7, "health": health, **PLACE, "at_ms": now}
    refused = api.post("/api/intake", json=_batch([*MET, seen]))
    assert refused.status_code == 400
    assert f"health.{next(iter(health))}" in refused.text
    for route in ("/health", "/metrics", "/api/context/health", "/api/capacity/s1"):
        assert api.get(route).status_code in (200, 404), route


@pytest.mark.requirement("S4", "X7", "G10")
def test_a_window_told_of_by_a_clock_that_is_ahead_is_live_no_longer_than_another(
    api: TestClient, store: Store
) -> None:
    far = row_times.now_ms() + 10**12
    seen = {"deed": "window", "used_tokens": 7, "health": {"used_ratio": 0.5}, **PLACE}
    assert api.post("/api/intake", json=_batch([*MET, {**seen, "at_ms": far}])).status_code == 200
    now = row_times.now_ms()
    assert len(store.read(lambda c: readings.live(c, now))) == 1
    later = now + 2 * LIVE_MS
    assert store.read(lambda c: readings.live(c, later)) == []
