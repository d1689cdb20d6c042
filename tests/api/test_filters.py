"""Every list can be asked for one project, session or agent."""

import pytest
from starlette.testclient import TestClient

from tests.api.trees import NOWHERE, a_request, post


@pytest.mark.requirement("S2")
def test_lists_are_filtered_by_where_things_stand(api: TestClient) -> None:
    request = a_request(api, "s1")
    task = post(api, "task", request_id=request["id"])
    who = {"agent_type": "dev", "agent_id": "a", "status": "running"}
    subtask = post(api, "subtask", task_id=task["id"], description="d", **who)
    action = {"tool_name": "Edit", "tool_type": "builtin", "session_id": "s1"}
    post(api, "action", **action, project_path="/w/app", subtask_id=subtask["id"])
    here, elsewhere = request["project_id"], NOWHERE
    for noun, name, right, wrong in (
        ("tasks", "session_id", "s1", "s2"),
        ("tasks", "project_id", here, elsewhere),
        ("subtasks", "project_id", here, elsewhere),
        ("subtasks", "agent_id", "a", "b"),
        ("actions", "project_id", here, elsewhere),
        ("agent-contexts", "session_id", "s1", "s2"),
    ):
        assert api.get(f"/api/{noun}", params={name: right}).json()["total"] == 1, (noun, name)
        assert api.get(f"/api/{noun}", params={name: wrong}).json()["total"] == 0, (noun, name)
    assert api.get("/api/agent-contexts", params={"project_id": elsewhere}).json()["total"] == 0
    for noun in ("tasks", "subtasks", "actions", "agent-contexts"):
        assert api.get(f"/api/{noun}?project_id=odd").status_code == 400
