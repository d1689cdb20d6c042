"""A list without a filter tells how many there are, exactly, also when none is left."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from holdfast.hub.store import rows
from tests.api.trees import a_subtask, post

LISTS = (
    *("projects", "sessions", "requests", "tasks", "subtasks", "actions", "messages"),
    *("subscriptions", "claims", "audit", "active-sessions", "agent-contexts"),
)


def _totals(api: TestClient) -> dict[str, int]:
    found = {}
    for noun in LISTS:
        answer = api.get(f"/api/{noun}")
        assert answer.status_code == 200, (noun, answer.text)
        found[noun] = answer.json()["total"]
    return found


def _some_of_each(api: TestClient) -> tuple[str, str]:
    """One of everything a client can make; the project and the request it is in."""
    part = a_subtask(api)
    [project] = api.get("/api/projects").json()["projects"]
    [request] = api.get("/api/requests").json()["requests"]
    post(api, "action", tool_name="Bash", tool_type="builtin", subtask_id=part["id"])
    post(
        api, "message", from_agent="a", topic="task.created", content="x", project_id=project["id"]
    )
    for route, body in (
        ("subscribe", {"agent_id": "a", "topic": "task.created"}),
        ("claims", {"project_id": project["id"], "work": "w", "agent_id": "a"}),
    ):
        assert api.post(f"/api/{route}", json=body).status_code == 201
    return project["id"], request["id"]


@pytest.mark.requirement("S2")
def test_a_total_without_a_filter_is_exact_before_and_after_everything_is_gone(
    api: TestClient,
) -> None:
    none = dict.fromkeys(LISTS, 0)
    assert _totals(api) == none
    project, request = _some_of_each(api)
    made = _totals(api)
    assert {noun for noun, total in made.items() if total != 1} <= {"audit", "agent-contexts"}
    assert api.delete(f"/api/requests/{request}").status_code == 204
    left = _totals(api)
    gone = ("requests", "tasks", "subtasks", "actions")
    assert {noun: left[noun] for noun in gone} == dict.fromkeys(gone, 0)
    api.post("/api/unsubscribe", json={"agent_id": "a", "topic": "task.created"})
    assert _totals(api)["subscriptions"] == 0
    assert api.delete("/api/sessions/s1").status_code == 204
    assert api.delete(f"/api/projects/{project}").status_code == 204
    assert _totals(api) == none


@pytest.mark.requirement("S2")
def test_a_total_without_a_filter_knows_no_bound(
    api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_COUNTED", 2)
    for agent in "abcd":
        api.post("/api/subscribe", json={"agent_id": agent, "topic": "task.created"})
    assert api.get("/api/subscriptions").json()["total"] == 4
    by_topic = api.get("/api/subscriptions", params={"topic": "task.created"})
    assert by_topic.json()["total"] == 2
