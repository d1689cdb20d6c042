"""What is odd is refused by the name of its field, or found as it was made."""

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient


@pytest.mark.requirement("S2")
def test_no_status_is_described_that_is_never_sent(app: FastAPI) -> None:
    described = app.openapi()["paths"].values()
    assert not any("422" in call["responses"] for path in described for call in path.values())


@pytest.mark.requirement("S2")
@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"])
def test_a_time_no_calendar_holds_is_refused(api: TestClient, at: str) -> None:
    refused = api.post("/api/sessions", json={"id": "s1", "started_at": at})
    assert (refused.status_code, list(refused.json()["details"])) == (400, ["started_at"])


@pytest.mark.requirement("S2")
def test_a_slash_in_an_id_is_part_of_it(api: TestClient) -> None:
    assert api.post("/api/sessions", json={"id": "team/s1"}).status_code == 201
    assert api.get("/api/sessions/team/s1").json()["id"] == "team/s1"
    assert api.get("/api/sessions/team%2Fs1").json()["id"] == "team/s1"
    assert api.patch("/api/sessions/team/s1", json={"total_errors": 1}).status_code == 200
    assert "overview" in api.get("/api/sessions/stats").json()
    assert api.get("/api/context/health/team/a").status_code == 200
    assert api.get("/api/compact/status/team/s1").status_code == 200
    assert api.get("/api/compact/snapshot/team/s1").status_code == 200
    assert api.delete("/api/sessions/team/s1").status_code == 204


@pytest.mark.requirement("S2")
def test_a_wrong_method_is_answered_as_json(api: TestClient) -> None:
    answer = api.put("/api/projects", json={})
    assert (answer.status_code, answer.json()) == (405, {"error": "Method not allowed"})
    assert answer.headers["allow"]
