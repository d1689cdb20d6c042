"""Requests that are refused cost the good ones beside them nothing, on either engine."""

import re
from typing import Any

import pytest
from fastapi.routing import APIRoute
from httpx2 import Response
from starlette.testclient import TestClient

from holdfast.api.app import ROUTES
from tests.api.trees import NOWHERE

ROUNDS = 12
ENDLESS = "/api/events"  # a stream
READS = sorted(
    {
        re.sub(r"\{[^}]+\}", "s1", route.path)
        for route in ROUTES
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()) and route.path != ENDLESS
    }
)


def _refused(api: TestClient, round_: int) -> list[tuple[int, Response]]:
    """(what is expected, what came) of requests that roll back in every way there is."""
    message = {"from_agent": "a", "topic": "task.created", "content": {}}
    action = {"tool_name": "Edit", "tool_type": "builtin"}
    part = {"description": "d", "status": "running"}
    waits = {"blocked_by": f"a{round_}", "blocked_agent": f"b{round_}"}
    posts: list[tuple[int, str, dict[str, Any]]] = [
        (409, "sessions", {"id": "s0"}),
        (404, "subtasks", {"task_id": NOWHERE, **part}),
        (404, "tasks", {"request_id": NOWHERE}),
        (404, "requests", {"project_id": NOWHERE, "session_id": "s", "prompt": "p"}),
        (404, "actions", {**action, "subtask_id": NOWHERE}),
        (404, "messages", {**message, "project_id": NOWHERE}),
        (400, "messages", {**message, "topic": "nothing anybody registered"}),
        (400, "actions", {**action, "input": "\x00"}),
        (400, "compact/save", {"session_id": ""}),
        (400, "blocking", {**waits, "blocked_agent": waits["blocked_by"]}),
    ]
    found = [(status, api.post(f"/api/{noun}", json=body)) for status, noun, body in posts]
    found += [
        (404, api.patch(f"/api/{noun}/{NOWHERE}", json={"status": "completed"}))
        for noun in ("requests", "tasks", "subtasks")
    ]
    found += [(404, api.delete(f"/api/{noun}/{NOWHERE}")) for noun in ("projects", "tasks")]
    return found


def _good(api: TestClient, round_: int) -> list[Response]:
    """One of every kind of write, in a session of its own."""
    session, agent = f"s{round_}", f"agent{round_}"
    made = [api.post("/api/projects", json={"path": f"/w/{round_}"})]
    project = made[0].json()["project"]["id"]
    made.append(api.post("/api/sessions", json={"id": session, "project_id": project}))
    asked = {"project_id": project, "session_id": session, "prompt": "p"}
    made.append(api.post("/api/requests", json=asked))
    made.append(api.post("/api/tasks", json={"request_id": made[-1].json()["request"]["id"]}))
    part = {"task_id": made[-1].json()["task"]["id"], "description": "d", "agent_id": agent}
    made.append(api.post("/api/subtasks", json={**part, "agent_type": "t", "status": "running"}))
    subtask = made[-1].json()["subtask"]["id"]
    action = {"tool_name": "Edit", "tool_type": "builtin", "subtask_id": subtask}
    made.append(api.post("/api/actions", json=action))
    message = {"from_agent": agent, "topic": "task.created", "content": {"n": round_}}
    made.append(api.post("/api/messages", json={**message, "project_id": project}))
    made.append(api.post("/api/subscribe", json={"agent_id": agent, "topic": "task.created"}))
    made.append(api.post("/api/blocking", json={"blocked_by": agent, "blocked_agent": session}))
    claim = {"project_id": project, "agent_id": agent, "work": "w"}
    made.append(api.post("/api/claims", json=claim))
    made.append(api.post("/api/compact/save", json={"session_id": session}))
    restore = {"session_id": session, "agent_id": agent}
    made.append(api.post("/api/compact/restore", json=restore))
    made.append(api.patch(f"/api/subtasks/{subtask}", json={"status": "completed"}))
    return made


@pytest.mark.requirement("S1", "S2")
def test_refused_requests_cost_the_good_ones_beside_them_nothing(api: TestClient) -> None:
    for round_ in range(ROUNDS):
        good = _good(api, round_)
        assert [one.text for one in good if not one.is_success] == []
        for status, answer in _refused(api, round_):
            assert answer.status_code == status, (answer.request.url, answer.text)
    for path in READS:
        answer = api.get(path)
        assert answer.status_code < 500, (path, answer.text)
    assert api.get("/stats").json()["messageCount"] == ROUNDS
    assert api.get("/api/actions").json()["total"] == ROUNDS
