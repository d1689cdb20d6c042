"""Snapshots in every shape that clients and our own hooks build come back as a brief."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from tests.api.trees import restored
from tests.contracts.session_script import ScriptedSession
from tests.hot.hooks import fire

PATH = "/home/user/project"


@pytest.mark.requirement("S2", "C1", "B2")
def test_our_own_hooks_snapshot_with_an_open_task_is_restored(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    script = ScriptedSession(tmp_path, project=str(project))
    script.prompt("Build the tide tables and print them as a table, please")
    script.lists("read the gauge file", 1)
    script.lists("print the table", 2)
    script.ticks(1, "in_progress")
    fire("PreCompact", script.transcript, environ={"CLAUDE_PROJECT_DIR": str(project)})
    sync(store)
    brief = restored(api)
    assert "- in_progress: read the gauge file\n- pending: print the table\n" in brief


def _as_the_older_script(api: TestClient, session: str) -> dict[str, Any]:
    """Collected over the API and put together as the script of existing clients does it."""
    project = api.get("/api/projects/by-path", params={"path": PATH}).json()
    return {
        "session_id": session,
        "trigger": "auto",
        "timestamp": "2026-02-09T10:30:00Z",
        "context_summary": "Working on authentication",
        "hierarchy": api.get(f"/api/hierarchy/{project['id']}").json(),
        "agent_states": api.get("/api/agent-contexts").json(),
        "recent_messages": api.get("/api/messages", params={"limit": 50}).json(),
        "recent_actions": api.get(
            "/api/actions", params={"limit": 100, "session_id": session}
        ).json(),
        "modified_files": ["/app/AuthController.php"],
        "key_decisions": ["JWT for sessions"],
    }


def _work(api: TestClient, session: str) -> str:
    project = api.post("/api/projects", json={"path": PATH}).json()["project"]["id"]
    asked = {"project_id": project, "session_id": session, "prompt": "Add authentication"}
    request = api.post("/api/requests", json=asked).json()["request"]["id"]
    task = api.post("/api/tasks", json={"request_id": request, "name": "Backend Auth"})
    task_id = task.json()["task"]["id"]
    agent = {"task_id": task_id, "agent_type": "backend-laravel", "agent_id": "be-1"}
    done = {**agent, "description": "Create User model", "status": "completed"}
    api.post("/api/subtasks", json=done)
    running = {**agent, "description": "Create auth routes", "status": "running"}
    made = api.post("/api/subtasks", json=running).json()["subtask"]["id"]
    message = {"from_agent_id": "be-1", "to_agent_id": "fe-1", "topic": "task.completed"}
    api.post("/api/messages", json={**message, "payload": {"endpoint": "/api/login"}})
    wrote = {"tool_name": "Write", "tool_type": "builtin", "session_id": session}
    api.post("/api/actions", json={**wrote, "file_paths": ["/app/AuthController.php"]})
    return str(made)


@pytest.mark.requirement("S2", "B2")
def test_the_snapshot_of_the_older_script_comes_back_whole(api: TestClient) -> None:
    _work(api, "s1")
    snapshot = _as_the_older_script(api, "s1")
    saved = api.post("/api/compact/save", json=snapshot)
    assert saved.status_code == 201
    assert (saved.json()["snapshot"]["tasks_count"], saved.json()["snapshot"]["agents_count"]) == (
        1,
        1,
    )
    brief = restored(api)
    for needed in ("Create auth routes", "backend-laravel be-1, running", "/api/login", "Write"):
        assert needed in brief
    assert "Create User model" not in brief
    assert "{'" not in brief, "a Python value is nobody's words"


@pytest.mark.requirement("S2", "B2")
def test_a_task_that_ended_after_the_save_is_not_restored_as_running(api: TestClient) -> None:
    subtask = _work(api, "s1")
    api.post("/api/compact/save", json=_as_the_older_script(api, "s1"))
    api.patch(f"/api/subtasks/{subtask}", json={"status": "completed"})
    assert "Create auth routes" not in restored(api)
    context = api.get("/api/context/a", params={"session_id": "s1"}).json()
    assert "Create auth routes" not in context["brief"]["content"]
