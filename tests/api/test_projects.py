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
