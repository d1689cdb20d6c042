from __future__ import annotations

import pytest
from starlette.testclient import TestClient


@pytest.mark.requirement("S2")
def test_a_project_is_made_once_per_path(api: TestClient) -> None:
    first = api.post("/api/projects", json={"path": "/w/app/", "name": "app"})
    again = api.post("/api/projects", json={"path": "/w/app", "metadata": {"a": 1}})
    assert (first.status_code, again.status_code) == (201, 201)
    made, changed = first.json()["project"], again.json()["project"]
    assert made["id"] == changed["id"]
    assert changed["path"] == "/w/app"
    assert (changed["name"], changed["metadata"]) == ("app", {"a": 1})


@pytest.mark.requirement("S2")
def test_a_project_is_found_by_its_path_wrapped_and_bare(api: TestClient) -> None:
    made = api.post("/api/projects", json={"path": "/w/ü b"}).json()["project"]
    found = api.get("/api/projects/by-path", params={"path": "/w/ü b"}).json()
    assert found["id"] == found["project"]["id"] == made["id"]
    missing = api.get("/api/projects/by-path", params={"path": "/nowhere"})
    assert (missing.status_code, missing.json()) == (404, {"error": "Project not found"})
    assert api.get("/api/projects/by-path").status_code == 400


@pytest.mark.requirement("S2")
@pytest.mark.parametrize("body", [{}, {"path": ""}, {"path": 7}, {"path": "/a\x00b"}, []])
def test_a_body_that_does_not_fit_is_refused_with_the_field(api: TestClient, body: object) -> None:
    answer = api.post("/api/projects", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "Validation failed"
    assert answer.json()["details"]


@pytest.mark.requirement("S2")
def test_lists_are_paged_and_say_how_many_there_are(api: TestClient) -> None:
    for n in range(5):
        api.post("/api/projects", json={"path": f"/w/{n}"})
    page = api.get("/api/projects", params={"limit": 2, "offset": 1}).json()
    assert (page["count"], page["total"], page["limit"], page["offset"]) == (2, 5, 2, 1)
    assert api.get("/api/projects", params={"limit": "many"}).status_code == 400
