"""What one body may cost: each text is looked through for secrets while others wait."""

import pytest
from starlette.testclient import TestClient

from tests.api.trees import post

LONG = "token " * 40_000


@pytest.mark.requirement("X5")
def test_no_body_is_looked_through_for_long(api: TestClient) -> None:
    action = {"tool_name": "Bash", "tool_type": "builtin"}
    for odd in ({"input": LONG}, {"file_paths": [LONG[:150_000]] * 2}):
        refused = api.post("/api/actions", json={**action, **odd})
        assert (refused.status_code, list(refused.json()["details"])) == (400, list(odd))
    project = post(api, "project", path="/w/app")
    whole = {"project_id": project["id"], "from_agent": "a", "topic": "task.created"}
    large = {**whole, "content": {"a": [LONG] * 3}}
    assert api.post("/api/messages", json=large).status_code == 400
    assert api.post("/api/actions", json={**action, "input": LONG[:200_000]}).status_code == 201
