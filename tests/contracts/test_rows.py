"""Reads on PostgreSQL: a statement is one round trip, and a closed connection is replaced."""

from contextlib import closing

import psycopg
import pytest
import sqlalchemy as sa

from holdfast.hub.store.store import Store

PID = sa.text("SELECT pg_backend_pid()")


def _asked(url: str, query: str, pid: int) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query, (pid,)).fetchone()
    return row[0] if row else None


@pytest.mark.requirement("S1")
def test_an_idle_connection_that_the_server_closed_is_replaced(postgres_url: str) -> None:
    with closing(Store.open(postgres_url)) as store:
        pid = store.read(lambda c: c.scalar(PID))
        assert _asked(postgres_url, "SELECT pg_terminate_backend(%s, 60000)", pid)
        assert store.read(lambda c: c.scalar(PID)) != pid
