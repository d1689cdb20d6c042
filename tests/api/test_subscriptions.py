from typing import Any

import pytest
from starlette.testclient import TestClient


def _subscribed(api: TestClient, agent: str, topic: str, **more: Any) -> dict[str, Any]:
    answer = api.post("/api/subscribe", json={"agent_id": agent, "topic": topic, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()["subscription"]
    return found


@pytest.mark.requirement("A2", "S2")
def test_there_is_one_subscription_per_agent_and_topic(api: TestClient) -> None:
    first = _subscribed(api, "b", "task.failed", callback_url="http://127.0.0.1:1/x")
    again = _subscribed(api, "b", "task.failed")
    assert again["id"] == first["id"]
    assert again["callback_url"] == "http://127.0.0.1:1/x"
    assert again["created_at"] == first["created_at"]


@pytest.mark.requirement("A2", "S2")
def test_a_subscription_ends_by_pair_or_by_id_and_only_once(api: TestClient) -> None:
    pair = {"agent_id": "b", "topic": "task.failed"}
    _subscribed(api, agent="b", topic="task.failed")
    ended = api.post("/api/unsubscribe", json=pair)
    assert ended.status_code == 200
    assert api.post("/api/unsubscribe", json=pair).status_code == 404
    made = _subscribed(api, "b", "task.failed")
    deleted = api.delete(f"/api/subscriptions/{made['id']}").json()
    assert deleted == {"success": True, "deleted": {"id": made["id"], **pair}}
    assert api.delete(f"/api/subscriptions/{made['id']}").status_code == 404
    assert api.delete("/api/subscriptions/not-an-id").status_code == 400
