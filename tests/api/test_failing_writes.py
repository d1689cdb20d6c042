"""Writes that the database cannot make: said to whoever asked, counted, seen by whoever looks."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from holdfast.hub.errors import StoreError
from holdfast.hub.store import schema
from holdfast.hub.store.store import RECENT_MS, Store, WriteHealth
from holdfast.wire import log

pytestmark = [pytest.mark.requirement("S1", "X6")]
MESSAGE = {"from_agent": "backend", "topic": "task.completed", "content": {"n": 1}}
SECRET = "correct-horse-battery"
ON_SQLITE = (
    f"CREATE TRIGGER refusing BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, '{SECRET}'); END",
)
ON_POSTGRES = (
    f"CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''{SECRET}''; END'",
    "CREATE TRIGGER refusing BEFORE INSERT ON messages EXECUTE FUNCTION no()",
)


def _do(store: Store, *statements: str) -> None:
    store.write(lambda c: [c.exec_driver_sql(one) for one in statements] and None)


def _refuse_messages(store: Store) -> None:
    _do(store, *(ON_SQLITE if store.is_sqlite else ON_POSTGRES))


def _accept_messages(store: Store) -> None:
    _do(store, "DROP TRIGGER refusing" + ("" if store.is_sqlite else " ON messages"))


def _status(api: TestClient) -> str:
    return str(api.get("/health").json()["status"])


def test_a_write_that_fails_is_seen_in_health_and_metrics(api: TestClient, store: Store) -> None:
    assert api.post("/api/messages", json=MESSAGE).status_code == 201
    assert _status(api) == "healthy"
    assert api.get("/health").json()["database"]["writes"]["last_error"] is None
    _refuse_messages(store)
    for _ in range(2):
        assert api.post("/api/messages", json=MESSAGE).status_code == 500
    _accept_messages(store)
    assert api.post("/api/messages", json=MESSAGE).status_code == 201
    answer = api.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    writes = answer.json()["database"]["writes"]
    assert (writes["written"], writes["failed"]) == (2, 2)
    assert writes["last_error"].startswith("a write failed with ")
    assert writes["last_failed_at"]
    lines = api.get("/metrics").text.splitlines()
    assert "holdfast_writes_total 2.0" in lines
    assert "holdfast_write_failures_total 2.0" in lines
    assert "holdfast_writes_degraded 1.0" in lines
    assert SECRET not in answer.text + "".join(lines), "/health asks for no token"


def test_refused_requests_are_no_failures(api: TestClient) -> None:
    for _ in range(2):
        api.post("/api/sessions", json={"id": "s1"})
    assert _status(api) == "healthy"
    assert "holdfast_write_failures_total 0.0" in api.get("/metrics").text.splitlines()


def test_a_server_that_writes_again_is_healthy_after_a_while() -> None:
    failing = WriteHealth().after(1_000).after(2_000, "the disk is full")
    assert failing.is_degraded(2_000 + 10 * RECENT_MS), "nothing was written since"
    again = failing.after(3_000)
    assert (again.written, again.failed, again.last_error) == (2, 1, "the disk is full")
    assert again.is_degraded(2_000 + RECENT_MS - 1)
    assert not again.is_degraded(2_000 + RECENT_MS)


def test_the_log_holds_no_value_of_a_row_that_could_not_be_written(
    api: TestClient, store: Store
) -> None:
    _do(store, "CREATE UNIQUE INDEX once ON messages (from_agent)")
    for status in (201, 500):
        body = {**MESSAGE, "from_agent": SECRET, "content": {"word": SECRET}}
        assert api.post("/api/messages", json=body).status_code == status
    logged = Path(log.path()).read_text(encoding="utf-8")
    assert "from_agent" in logged or "once" in logged, "what was refused is told"
    assert SECRET not in logged


# Faults of a real PostgreSQL.


def test_a_write_after_a_newer_holdfast_upgraded_the_database_is_refused(
    api: TestClient, store: Store, store_url: str
) -> None:
    assert api.post("/api/projects", json={"path": "/before"}).status_code == 201
    _set_version(store, "0999")
    refused = api.post("/api/projects", json={"path": "/after"})
    assert refused.status_code == 503
    assert "0999" in refused.json()["error"]
    assert "upgrade" in refused.json()["try_next"]
    with pytest.raises(StoreError, match="0999"):
        store.write(_touch)
    _set_version(store, schema.HEAD)
    again = Store.open(store_url)  # as after a restart
    again.write(_touch)
    assert again.read(lambda c: c.scalar(sa.text("SELECT count(*) FROM projects"))) == 1
    again.close()


def _touch(connection: sa.Connection) -> None:
    connection.execute(sa.text("UPDATE projects SET name = name"))


def _set_version(store: Store, version: str) -> None:
    """As another process does it."""
    with store.engine.begin() as connection:
        text = sa.text("UPDATE alembic_version SET version_num = :version")
        connection.execute(text, {"version": version})
