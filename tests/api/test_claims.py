from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient


@pytest.fixture
def project_id(api: TestClient) -> str:
    return str(api.post("/api/projects", json={"path": "/w"}).json()["project"]["id"])


def _claim(project_id: str, agent: str, **more: Any) -> dict[str, Any]:
    return {"project_id": project_id, "work": "the tests", "agent_id": agent, **more}


@pytest.mark.requirement("A4", "S2")
def test_work_is_taken_by_one_and_the_other_is_told_by_whom(
    api: TestClient, project_id: str
) -> None:
    taken = api.post("/api/claims", json=_claim(project_id, "a", ttl_seconds=60))
    assert taken.status_code == 201
    refused = api.post("/api/claims", json=_claim(project_id, "b"))
    assert refused.status_code == 409
    assert refused.json()["agent_id"] == "a"
    assert refused.json()["expires_at"] == taken.json()["claim"]["expires_at"]
    assert api.post("/api/claims", json=_claim(project_id, "a")).status_code == 201


@pytest.mark.requirement("A4", "S2")
def test_only_the_holder_lets_go(api: TestClient, project_id: str) -> None:
    api.post("/api/claims", json=_claim(project_id, "a"))
    assert api.delete("/api/claims", params=_claim(project_id, "b")).status_code == 409
    released = api.delete("/api/claims", params=_claim(project_id, "a"))
    assert released.status_code == 200
    assert api.delete("/api/claims", params=_claim(project_id, "a")).status_code == 404
    assert api.delete("/api/claims").status_code == 400


@pytest.mark.requirement("A4", "S2")
@pytest.mark.parametrize("more", [{"ttl_seconds": 0}, {"work": ""}, {"project_id": "x"}])
def test_what_does_not_fit_is_refused(
    api: TestClient, project_id: str, more: dict[str, Any]
) -> None:
    answer = api.post("/api/claims", json=_claim(project_id, "a") | more)
    assert (answer.status_code, answer.json()["error"]) == (400, "Validation failed")


@pytest.mark.requirement("A4")
def test_a_claim_needs_a_project_that_is_there(api: TestClient) -> None:
    body = _claim("e0c5b1f8-0000-4000-8000-000000000000", "a")
    assert api.post("/api/claims", json=body).status_code == 404
