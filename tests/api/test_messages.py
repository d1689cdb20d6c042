"""Messages over HTTP: both spellings, every field, and what does not fit."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.api.app import create
from holdfast.hub.store.store import Store

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
HELLO = {"from_agent": "a", "topic": "task.created", "content": {"n": 1}}


def _posted(api: TestClient, **more: Any) -> dict[str, Any]:
    answer = api.post("/api/messages", json={**HELLO, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()["message"]
    return found


def _inbox(api: TestClient, agent: str, **asked: Any) -> dict[str, Any]:
    answer = api.get(f"/api/messages/{agent}", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.requirement("A2", "S2")
def test_a_message_is_posted_read_and_then_marked(api: TestClient) -> None:
    sent = _posted(api, to_agent="b", priority=5, ttl_seconds=60)
    assert (sent["is_broadcast"], sent["priority"]) == (False, 5)
    first = _inbox(api, "b")
    assert (first["agent_id"], first["count"], first["unread_remaining"]) == ("b", 1, 0)
    [message] = first["messages"]
    assert message == {**sent, "content": {"n": 1}, "already_read": False}
    assert _inbox(api, "b")["messages"] == [{**message, "already_read": True}]


@pytest.mark.requirement("A2", "S2")
def test_both_spellings_are_accepted(api: TestClient) -> None:
    body = {"from_agent_id": "x", "to_agent_id": "b", "topic": "task.failed", "payload": "words"}
    assert api.post("/api/messages", json=body).status_code == 201
    [message] = _inbox(api, "b")["messages"]
    assert (message["from_agent"], message["to_agent"]) == ("x", "b")
    assert message["content"] == {"message": "words"}


@pytest.mark.requirement("A2", "S2")
@pytest.mark.parametrize("to_agent", [{}, {"to_agent": None}, {"to_agent_id": None}])
def test_a_message_to_nobody_is_a_broadcast(api: TestClient, to_agent: dict[str, None]) -> None:
    sent = _posted(api, **to_agent)
    assert (sent["is_broadcast"], sent["to_agent"]) == (True, None)
    for agent in ("b", "c"):
        assert [one["id"] for one in _inbox(api, agent)["messages"]] == [sent["id"]]
    assert _inbox(api, "c", include_broadcasts="false")["messages"] == []


@pytest.mark.requirement("A2", "S2")
@pytest.mark.parametrize("path", ["/api/messages", "/api/messages/all"])
def test_the_raw_list_has_the_names_of_the_rows(api: TestClient, path: str) -> None:
    project = api.post("/api/projects", json={"path": "/w"}).json()["project"]["id"]
    _posted(api, project_id=project)
    _posted(api, to_agent="b")
    _inbox(api, "b", project_id=project)
    page = api.get(path, params={"limit": 1}).json()
    assert (page["count"], page["total"], page["limit"], page["offset"]) == (1, 2, 1, 0)
    [row] = page["messages"]
    assert (row["from_agent_id"], row["to_agent_id"]) == ("a", "b")
    assert (row["message_type"], row["payload"], row["read_by"]) == (
        "task.created",
        {"n": 1},
        ["b"],
    )
    assert api.get(path, params={"project_id": project}).json()["total"] == 1


@pytest.mark.requirement("A2", "S2")
@pytest.mark.parametrize(
    ("field", "value"),
    [("from_agent", None), ("topic", "no.such.topic"), ("priority", 11), ("to_agent", "a\x00b")],
)
def test_a_field_that_does_not_fit_is_named(api: TestClient, field: str, value: object) -> None:
    body = {**HELLO, field: value}
    if value is None:
        del body[field]
    answer = api.post("/api/messages", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "Validation failed")
    assert any(name.startswith(field) for name in answer.json()["details"])


@pytest.mark.requirement("A2")
def test_a_registered_topic_is_accepted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TOPICS", "api_endpoint_created, build.done")
    client = TestClient(create(store))
    for topic in ("api_endpoint_created", "build.done"):
        assert client.post("/api/messages", json={**HELLO, "topic": topic}).status_code == 201
    assert client.post("/api/messages", json={**HELLO, "topic": "other"}).status_code == 400
