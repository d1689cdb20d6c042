"""A PostgreSQL that refuses, hangs, is locked or was upgraded: said in time, and then over."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

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


def _hang_up(url: str) -> None:
    """What was set for a role or a database holds for new connections."""
    _do(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE starts_with(application_name, 'holdfast') AND datname = current_database()",
    )


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


def test_one_that_takes_no_writes_is_said_and_reading_goes_on(
    live: Live, postgres_url: str
) -> None:
    assert _post(live, "/before").status == 201
    name = make_url(postgres_url).database
    _do(postgres_url, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    _hang_up(postgres_url)
    until(lambda: "may not be written to" in _post(live, "/now").json().get("error", ""))
    assert _post(live, "/now").status == 503
    assert live.get("/api/projects").json()["projects"][0]["path"] == "/before"
    back = f'ALTER DATABASE "{name}" RESET default_transaction_read_only'
    _do(postgres_url, "SET default_transaction_read_only = off", back)
    _hang_up(postgres_url)
    _comes_back(live, "/after")


@contextmanager
def _role(postgres_url: str, options: str) -> Iterator[str]:
    """The address, for a role of its own."""
    name = "holdfast_weak"
    _do(
        postgres_url,
        f"CREATE ROLE {name} LOGIN {options}",
        f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name}",
        f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {name}",
    )
    try:
        yield make_url(postgres_url).set(username=name).render_as_string(hide_password=False)
    finally:
        _do(postgres_url, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_connections_that_ran_out_are_said_and_there_again(postgres_url: str) -> None:
    with _role(postgres_url, "CONNECTION LIMIT 2") as url:
        store = Store.open(url)
        with in_thread(store) as live:
            held = sa.create_engine(parse_url(url)).connect()
            statuses: list[int] = []
            threads = [
                threading.Thread(target=lambda n=n: statuses.append(_post(live, f"/{n}").status))
                for n in range(10)
            ]
            threads += [
                threading.Thread(target=lambda: statuses.append(live.get("/api/projects").status))
                for _ in range(10)
            ]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            assert set(statuses) <= {200, 201, 503}
            held.close()
            held.engine.dispose()
            _comes_back(live, "/after")
        store.close()


def test_a_role_that_may_not_log_in_any_more_is_said(postgres_url: str) -> None:
    with _role(postgres_url, "") as url:
        store = Store.open(url)
        with in_thread(store) as live:
            assert _post(live, "/before").status == 201
            _do(postgres_url, "ALTER ROLE holdfast_weak NOLOGIN")
            _hang_up(postgres_url)
            until(lambda: "not permitted to log in" in _post(live, "/now").json().get("error", ""))
            assert live.get("/health").status == 503
            assert "holdfast_weak" not in live.get("/health").body.decode()
            _do(postgres_url, "ALTER ROLE holdfast_weak LOGIN")
            _comes_back(live, "/after")
        store.close()


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
