import pytest
from starlette.testclient import TestClient

PAIR = {"blocked_by": "a", "blocked_agent": "b"}


@pytest.mark.requirement("A2", "S2")
def test_who_waits_for_whom_is_told_from_both_sides(api: TestClient) -> None:
    made = api.post("/api/blocking", json={**PAIR, "reason": "needs the schema"})
    assert made.status_code == 201
    row = made.json()["blocking"]
    waits, holds = api.get("/api/blocking/b").json(), api.get("/api/blocking/a").json()
    assert (waits["is_blocked"], waits["is_blocking"]) == (True, False)
    related = {"id": row["id"], "reason": "needs the schema", "since": row["created_at"]}
    assert waits["blocked_by"] == [{**related, "by_agent": "a"}]
    assert holds["blocking"] == [{**related, "blocked_agent": "b"}]
    assert holds["summary"] == {"blocked_by_count": 0, "blocking_count": 1}


@pytest.mark.requirement("A2", "S2")
def test_one_pair_can_be_asked_for(api: TestClient) -> None:
    api.post("/api/blocking", json=PAIR)
    asked = api.get("/api/blocking/check", params={"blocker": "a", "blocked": "b"})
    assert asked.json() == {"blocker": "a", "blocked": "b", "is_blocked": True}
    other = api.get("/api/blocking/check", params={"blocker": "b", "blocked": "a"})
    assert other.json()["is_blocked"] is False
    assert api.get("/api/blocking/check", params={"blocker": "a"}).status_code == 400


@pytest.mark.requirement("A2", "S2")
def test_a_pair_ends_by_name_or_by_id_and_only_once(api: TestClient) -> None:
    made = api.post("/api/blocking", json=PAIR).json()["blocking"]
    ended = api.post("/api/unblock", json=PAIR)
    assert ended.json()["unblocked"] == {"id": made["id"], **PAIR, "reason": None}
    assert api.post("/api/unblock", json=PAIR).status_code == 404
    again = api.post("/api/blocking", json=PAIR).json()["blocking"]
    assert api.delete(f"/api/blocking/{again['id']}").json() == {"success": True}
    assert api.delete(f"/api/blocking/{again['id']}").status_code == 404
    assert api.delete("/api/blocking/not-an-id").status_code == 400
