import pytest
from starlette.testclient import TestClient

from tests.api.trees import NOWHERE, a_request, a_subtask, post


@pytest.mark.requirement("S2", "A1")
def test_a_tree_is_answered_for_both_kinds_of_client(api: TestClient) -> None:
    subtask = a_subtask(api)
    project = post(api, "project", path="/w/app")
    post(api, "action", tool_name="Edit", tool_type="builtin", session_id="s1", duration_ms=4)
    tree = api.get(f"/api/hierarchy/{project['id']}").json()
    assert tree["project"]["id"] == tree["hierarchy"]["id"] == project["id"]
    assert tree["hierarchy"]["requests"] == tree["requests"]
    assert tree["requests"][0]["tasks"][0]["subtasks"] == [subtask]
    assert tree["counts"] == {"requests": 1, "tasks": 1, "subtasks": 1}
    stats = tree["stats"]
    assert (stats["total_requests"], stats["total_subtasks"], stats["total_actions"]) == (1, 1, 1)
    assert (stats["successful_actions"], stats["avg_duration_ms"]) == (1, 4.0)
    assert stats["last_activity"].endswith("Z")


@pytest.mark.requirement("S2")
def test_a_tree_is_paged_and_an_unknown_project_is_404(api: TestClient) -> None:
    for n in range(3):
        project_id = a_request(api, f"s{n}")["project_id"]
    page = api.get(f"/api/hierarchy/{project_id}", params={"limit": 2, "offset": 2}).json()
    assert (page["count"], page["total"], page["limit"], page["offset"]) == (1, 3, 2, 2)
    assert page["counts"]["requests"] == 3
    assert api.get(f"/api/hierarchy/{NOWHERE}").json() == {"error": "Project not found"}
    assert api.get("/api/hierarchy/no-uuid").status_code == 400


@pytest.mark.requirement("S2", "A6")
def test_waves_are_told(api: TestClient) -> None:
    none = api.get("/api/waves/s1/current")
    assert (none.status_code, none.json()) == (404, {"error": "No active wave found for session"})
    request = a_request(api)
    made = [post(api, "task", request_id=request["id"]) for _ in range(2)]
    api.patch(f"/api/tasks/{made[0]['id']}", json={"status": "completed"})
    wave = api.get("/api/waves/s1/current").json()["wave"]
    assert (wave["wave_number"], wave["status"], wave["total_tasks"]) == (1, "running", 1)
    assert wave["started_at"] and wave["completed_at"] is None
    history = api.get("/api/waves/s1/history").json()
    assert (history["count"], history["total"]) == (2, 2)
    assert [wave["status"] for wave in history["waves"]] == ["completed", "running"]
    api.patch(f"/api/tasks/{made[1]['id']}", json={"status": "completed"})
    assert api.get("/api/waves/s1/current").status_code == 404
