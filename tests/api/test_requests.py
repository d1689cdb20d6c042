import pytest
from starlette.testclient import TestClient

from tests.api.trees import a_request, a_task, post


@pytest.mark.requirement("S2")
def test_a_request_has_the_fields_clients_read(api: TestClient) -> None:
    request = a_request(api, prompt_type="debug", metadata={"a": 1})
    assert set(request) == {
        "id",
        "project_id",
        "session_id",
        "prompt",
        "prompt_type",
        "status",
        "created_at",
        "completed_at",
        "metadata",
    }
    assert (request["status"], request["completed_at"]) == ("active", None)
    assert request["created_at"].endswith("Z")


@pytest.mark.requirement("S2")
def test_completing_a_request_sets_when(api: TestClient) -> None:
    where = f"/api/requests/{a_request(api, metadata={'a': 1})['id']}"
    done = api.patch(where, json={"status": "completed", "metadata": {"b": 2}}).json()
    assert done["success"] is True
    assert done["request"]["completed_at"]
    assert done["request"]["metadata"] == {"a": 1, "b": 2}
    assert api.patch(where, json={"status": "odd"}).status_code == 400
    nothing = api.patch(where, json={"unknown": 1})
    assert (nothing.status_code, nothing.json()["error"]) == (400, "No update fields provided")
    assert api.delete(where).status_code == 204
    assert api.get(where).status_code == api.delete(where).status_code == 404


@pytest.mark.requirement("S2")
def test_tasks_are_made_changed_found_and_removed(api: TestClient) -> None:
    task = a_task(api)
    assert (task["name"], task["wave_number"], task["status"]) == ("Wave 0", 0, "pending")
    post(api, "subtask", task_id=task["id"], description="one")
    where = f"/api/tasks/{task['id']}"
    [part] = api.get(where).json()["task"]["subtasks"]
    assert part["task_id"] == part["task_list_id"] == task["id"]
    done = api.patch(where, json={"status": "completed", "name": "first"}).json()["task"]
    assert (done["name"], bool(done["completed_at"])) == ("first", True)
    listed = api.get("/api/tasks", params={"request_id": task["request_id"]}).json()
    assert (listed["count"], listed["total"], listed["tasks"]) == (1, 1, [done])
    assert api.get("/api/tasks", params={"status": "pending"}).json()["total"] == 0
    assert "No update fields" in api.patch(where, json={}).json()["error"]
    assert api.delete(where).status_code == 204
    assert api.get(where).status_code == 404
