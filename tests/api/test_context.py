import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from holdfast.hub import row_times
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import audit, blockings, messages


@pytest.fixture
def known(api: TestClient, store: Store) -> None:
    """A session with a snapshot, a message for the agent, and somebody it waits for."""
    save = {"session_id": "s1", "context_summary": "Half of the parser is done"}
    api.post("/api/compact/save", json=save)
    now = row_times.now_ms()
    message = {"id": "m", "from_agent": "be", "to_agent": "fe", "topic": "task.completed"}
    whole = {**message, "content": {"endpoint": "/login"}, "created_ms": now}
    blocking = {"id": "b", "blocked_by": "be", "blocked_agent": "fe", "created_ms": now}
    store.write(
        lambda c: (
            c.execute(sa.insert(messages).values({**whole, "expires_ms": now + 60_000})),
            c.execute(sa.insert(blockings).values({**blocking, "reason": "needs the API"})),
        )
    )


@pytest.mark.usefixtures("known")
@pytest.mark.requirement("S2", "B2")
def test_a_brief_tells_an_agent_what_it_should_know(api: TestClient) -> None:
    said = api.get("/api/context/fe", params={"session_id": "s1", "agent_type": "frontend"}).json()
    for needed in ("parser", "/login", "fe waits for be", "needs the API"):
        assert needed in said["brief"]["content"]
    assert said["brief"]["token_count"] <= 2000
    again = api.get("/api/context/fe", params={"session_id": "s1", "format": "raw"}).json()
    assert again["counts"]["messages"] == 1, "to look is not to read"


@pytest.mark.requirement("S2")
def test_an_agent_nobody_heard_of_is_not_found(api: TestClient) -> None:
    assert api.get("/api/context/nobody").status_code == 404
    missing = api.post("/api/context/generate", json={"agent_id": "a"})
    assert missing.status_code == 400
    assert "session_id" in missing.json()["details"]
    made = api.post("/api/context/generate", json={"agent_id": "a", "session_id": "s"})
    assert made.status_code == 201


@pytest.mark.requirement("G9")
def test_audit_events_are_listed_and_exported_as_json_lines(api: TestClient, store: Store) -> None:
    rows = [
        {"id": f"e{n}", "kind": "CONTEXT_PRESSURE", "session_id": f"s{n % 2}", "at_ms": n}
        for n in range(4)
    ]
    store.write(lambda c: c.execute(sa.insert(audit), rows))
    page = api.get("/api/audit", params={"session_id": "s1", "limit": 1}).json()
    assert (page["total"], page["events"][0]["id"]) == (2, "e3")
    lines = api.get("/api/audit", params={"format": "jsonl"})
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert len(lines.text.splitlines()) == 4
