"""A PostgreSQL that refuses, hangs, is locked or was upgraded: said in time, and then over."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from holdfast.api import database
from holdfast.hub.ingest import background
from holdfast.hub.store import engine as engines
from holdfast.hub.store.engine import parse_url
from holdfast.hub.store.store import Store
from tests.api.live import Answered, Live, in_thread, until
from tests.stores import a_postgres

pytestmark = [pytest.mark.requirement("X6"), pytest.mark.nightly]


def _do(url: str, *statements: str) -> None:
    engine = sa.create_engine(parse_url(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.fixture
def live(postgres_url: str) -> Iterator[Live]:
    store = Store.open(postgres_url)
    with in_thread(store) as found:
        yield found
    store.close()


def _post(live: Live, path: str) -> Answered:
    return live.post("/api/projects", {"path": path})


def _comes_back(live: Live, path: str) -> None:
    until(lambda: _post(live, path).status in (200, 201, 409))


def test_a_lock_of_another_session_is_waited_for_and_then_said(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "BUSY_SECONDS", 1)
    store = Store.open(postgres_url)
    with in_thread(store) as live:
        other = sa.create_engine(parse_url(postgres_url)).connect()
        other.exec_driver_sql("LOCK TABLE projects IN ACCESS EXCLUSIVE MODE")
        refused = _post(live, "/now")
        assert (refused.status, "lock" in refused.json()["error"]) == (503, True)
        assert live.get("/api/projects").status == 503
        other.rollback()
        assert _post(live, "/after").status == 201
        paths = [one["path"] for one in live.get("/api/projects").json()["projects"]]
        assert paths == ["/after"], "what was refused was not written"
        other.close()
        other.engine.dispose()
    store.close()


def test_one_that_hangs_is_said_in_time_and_so_is_health(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "ANSWER_SECONDS", 1.0)
    with a_postgres() as postgres:
        store = Store.open(str(postgres.get_uri()))
        with in_thread(store) as live:
            assert _post(live, "/before").status == 201
            stopped = _with_children(int(postgres.get_pid()))
            try:
                _signal(stopped, signal.SIGSTOP)
                for _ in range(10):  # more than there are threads that read
                    assert live.get("/api/projects").status == 503
                assert _post(live, "/hung").status == 503
                assert live.get("/health").status == 503
            finally:
                _signal(stopped, signal.SIGCONT)
            _comes_back(live, "/after")
        store.close()


def _with_children(pid: int) -> list[int]:
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def _signal(pids: list[int], sent: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, sent)


def test_one_that_was_upgraded_under_a_running_server_is_left_alone(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(background, "VERSION_SECONDS", 0.05)
    store = Store.open(postgres_url)
    beside = background.Warm(store)
    beside.start()
    with in_thread(store) as live:
        _do(postgres_url, "UPDATE alembic_version SET version_num = '0999'")
        until(lambda: _post(live, "/now").status == 503)
        refused = _post(live, "/now").json()
        assert "0999" in refused["error"]
        assert "upgrade" in refused["try_next"]
        assert live.get("/health").status == 503
        _do(postgres_url, "UPDATE alembic_version SET version_num = '0001'")
        _comes_back(live, "/after")
    beside.stop()
    store.close()
