from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from holdfast.hub import row_times
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import windows


def a_window(store: Store, **given: Any) -> None:
    health = {
        "used_tokens": 140_000,
        "edge_tokens": 167_000,
        "window_tokens": 200_000,
        "used_ratio": 0.8383,
        "zone": "orange",
        "alert": "warning",
        "velocity_tokens_per_op": 900.0,
        "minutes_left": 65,
        "basis": "usage",
        "estimated": False,
        "checkpoint_ms": 1_700_000_000_000,
    }
    row = {
        "session_id": "s1",
        "agent_id": "",
        "used_tokens": 140_000,
        "health": {**health, **given.pop("health", {})},
        "updated_ms": row_times.now_ms(),
        **given,
    }
    store.write(lambda c: c.execute(sa.insert(windows).values(row)))


@pytest.mark.requirement("G10", "S2")
def test_capacity_is_the_real_reading_as_a_share_of_the_edge(api: TestClient, store: Store) -> None:
    a_window(store)
    said = api.get("/api/capacity/s1").json()
    assert (said["current_usage"], said["max_capacity"]) == (140_000, 167_000)
    assert said["usage_percent"] == 83.83
    assert (said["zone"], said["alert"], said["minutes_remaining"]) == (
        "orange",
        "warning",
        "1h 5m",
    )
    assert said["estimated"] is False


@pytest.mark.requirement("G10", "S2")
def test_an_unknown_agent_is_not_green(api: TestClient) -> None:
    assert api.get("/api/capacity/nobody").status_code == 404
    health = api.get("/api/context/health/nobody").json()
    assert health["capacity"]["zone"] == "unknown"
    assert health["recommendation"]["action"] == "none"
    assert health["shouldCompact"] is False


@pytest.mark.requirement("G10")
@pytest.mark.parametrize(
    ("zone", "alert", "action"),
    [
        ("green", None, "none"),
        ("orange", "warning", "warn"),
        ("orange", "advisory", "save"),
        ("red", None, "save"),
        ("red", "critical", "compact"),
    ],
)
def test_the_advice_follows_zone_and_alert(
    api: TestClient, store: Store, zone: str, alert: str | None, action: str
) -> None:
    a_window(store, agent_id="worker", health={"zone": zone, "alert": alert})
    said = api.get("/api/context/health/worker").json()
    assert said["recommendation"]["action"] == action
    assert said["shouldCompact"] is (action == "compact")


@pytest.mark.requirement("S2")
def test_a_reported_compaction_is_counted_and_changes_no_reading(
    api: TestClient, store: Store
) -> None:
    a_window(store, agent_id="team/worker")
    before = api.get("/api/capacity/team/worker").json()
    after = api.post("/api/capacity/team/worker/reset").json()
    assert after["compact_count"] == before["compact_count"] + 1
    assert after["current_usage"] == before["current_usage"] > 0


@pytest.mark.requirement("G10")
def test_health_tells_the_fullest_window_without_a_token(api: TestClient, store: Store) -> None:
    a_window(store)
    said = api.get("/health", headers={"Authorization": ""})
    assert said.status_code == 200
    assert said.json()["database"]["capacity_percentage"] == 83.83
    assert said.json()["status"] == "healthy"
    assert api.get("/stats", headers={"Authorization": ""}).status_code == 401


@pytest.mark.requirement("G10")
def test_metrics_are_prometheus_text(api: TestClient, store: Store) -> None:
    a_window(store, agent_id='a"b\nc')
    text = api.get("/metrics").text
    assert "# TYPE holdfast_window_used_ratio gauge" in text
    line = next(line for line in text.splitlines() if line.startswith("holdfast_window_used_r"))
    assert line.endswith(" 0.8383")
    assert r'agent_id="a\"b\nc"' in line


@pytest.mark.requirement("G10")
def test_an_orchestrator_asks_whose_window_a_task_fits_into(api: TestClient, store: Store) -> None:
    a_window(store, health={"status": "context_high", "ops_left": 30})
    roomy = {"used_ratio": 0.1, "zone": "green", "status": "ok", "agent_type": "Explore"}
    a_window(store, agent_id="a1", used_tokens=16_700, health=roomy)
    found = api.get("/api/context/health?fits=60000").json()["agents"]
    assert [(one["agent_id"], one["fits"]) for one in found] == [("s1", False), ("a1", True)]
    assert [one["status"] for one in found] == ["context_high", "ok"]
    assert [one["room_tokens"] for one in found] == [27_000, 150_300]
    assert (found[0]["ops_left"], found[1]["agent_type"]) == (30, "Explore")
    assert api.get("/api/context/health").json()["agents"][0]["fits"] is None
    one = api.get("/api/context/health/a1?fits=150301").json()["room"]
    assert (one["fits"], one["zone"]) == (False, "green")
