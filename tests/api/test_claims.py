from typing import Any

import pytest
from starlette.testclient import TestClient


@pytest.fixture
def project_id(api: TestClient) -> str:
    return str(api.post("/api/projects", json={"path": "/w"}).json()["project"]["id"])


def _claim(project_id: str, agent: str, **more: Any) -> dict[str, Any]:
    return {"project_id": project_id, "work": "the tests", "agent_id": agent, **more}


@pytest.mark.requirement("A4", "S2")
def test_work_is_taken_and_released_by_one_and_the_other_is_told_by_whom(
    api: TestClient, project_id: str
) -> None:
    taken = api.post("/api/claims", json=_claim(project_id, "a", ttl_seconds=60))
    assert taken.status_code == 201
    refused = api.post("/api/claims", json=_claim(project_id, "b"))
    assert refused.status_code == 409
    assert refused.json()["agent_id"] == "a"
    assert refused.json()["expires_at"] == taken.json()["claim"]["expires_at"]
    assert api.post("/api/claims", json=_claim(project_id, "a")).status_code == 201
    assert api.delete("/api/claims", params=_claim(project_id, "b")).status_code == 409
    released = api.delete("/api/claims", params=_claim(project_id, "a"))
    assert released.status_code == 200
    assert api.delete("/api/claims", params=_claim(project_id, "a")).status_code == 404
    assert api.delete("/api/claims").status_code == 400
