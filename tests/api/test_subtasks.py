import pytest
from starlette.testclient import TestClient

from tests.api.trees import NOWHERE, a_subtask, post


@pytest.mark.requirement("S2")
def test_a_subtask_has_the_fields_clients_read(api: TestClient) -> None:
    subtask = a_subtask(api, agent_type="dev", agent_id="a", max_turns=3, status="running")
    assert subtask["task_id"] == subtask["task_list_id"]
    assert subtask["started_at"] and subtask["completed_at"] is None
    assert (subtask["blocked_by"], subtask["result"], subtask["max_turns"]) == ([], None, 3)
    assert subtask["session_id"] == "s1"


@pytest.mark.requirement("S2")
def test_a_change_says_what_it_became(api: TestClient) -> None:
    where = f"/api/subtasks/{a_subtask(api)['id']}"
    running = api.patch(where, json={"status": "running", "agent_id": "a"}).json()
    assert (running["success"], running["subtask"]["agent_id"]) == (True, "a")
    done = api.patch(where, json={"status": "completed", "result": {"files": 2}}).json()["subtask"]
    assert done["started_at"] == running["subtask"]["started_at"]
    assert (bool(done["completed_at"]), done["result"]) == (True, {"files": 2})
    assert "No update fields" in api.patch(where, json={}).json()["error"]
    assert api.patch(where, json={"status": "odd"}).status_code == 400
    assert api.patch(f"/api/subtasks/{NOWHERE}", json={"status": "failed"}).status_code == 404


@pytest.mark.requirement("S2")
def test_who_is_at_work_is_agents_or_else_sessions(api: TestClient) -> None:
    subtask = a_subtask(api, agent_type="dev", agent_id="a")
    idle = api.get("/api/active-sessions").json()
    assert (idle["agents_count"], idle["count"], idle["total"]) == (0, 1, 1)
    assert [agent["session_id"] for agent in idle["active_agents"]] == ["s1"]
    api.patch(f"/api/subtasks/{subtask['id']}", json={"status": "running"})
    post(api, "action", tool_name="Edit", tool_type="builtin", subtask_id=subtask["id"])
    busy = api.get("/api/active-sessions").json()
    [agent] = busy["active_agents"]
    assert (agent["subtask_id"], agent["agent_type"]) == (subtask["id"], "dev")
    assert (agent["actions_count"], agent["project_path"]) == (1, "/w/app")
    assert busy["agents_count"] == 1
    [session] = busy["active_sessions"]
    assert (session["id"], session["project_name"], session["total_tools_used"]) == ("s1", "app", 1)
