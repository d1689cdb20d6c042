"""Some work, posted as a client would."""

from typing import Any

from starlette.testclient import TestClient

NOWHERE = "00000000-0000-4000-8000-000000000000"


def post(api: TestClient, noun: str, **body: Any) -> dict[str, Any]:
    """The thing that was made."""
    answer = api.post(f"/api/{noun}s", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()[noun]
    return made


def a_request(api: TestClient, session_id: str = "s1", **more: Any) -> dict[str, Any]:
    project = post(api, "project", path="/w/app", name="app")
    given = {"project_id": project["id"], "session_id": session_id, "prompt": "do it", **more}
    return post(api, "request", **given)


def a_task(api: TestClient, **more: Any) -> dict[str, Any]:
    return post(api, "task", request_id=a_request(api)["id"], **more)


def a_subtask(api: TestClient, **more: Any) -> dict[str, Any]:
    return post(api, "subtask", task_id=a_task(api)["id"], description="a part", **more)


def restored(api: TestClient, **asked: Any) -> str:
    """The brief of a restore."""
    body = {"session_id": "s1", "agent_id": "main", **asked}
    answer = api.post("/api/compact/restore", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["brief"])
