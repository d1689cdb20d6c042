"""Reads on PostgreSQL: a statement is one round trip, and a closed connection is replaced."""

from __future__ import annotations

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
def test_nothing_is_sent_beside_the_statement_of_a_read(postgres_url: str) -> None:
    with closing(Store.open(postgres_url)) as store:
        pids = {store.read(lambda c: c.scalar(PID)) for _ in range(3)}
        last = "SELECT query FROM pg_stat_activity WHERE state = 'idle' AND pid = %s"
        assert [_asked(postgres_url, last, pid) for pid in pids] == [PID.text] * len(pids)
        local = sa.text("SELECT set_config('holdfast.test', 'on', true)")
        kept = sa.text("SELECT current_setting('holdfast.test', true)")
        together = store.read(lambda c: (c.execute(local), c.scalar(kept))[1], in_transaction=True)
        assert together == "on"
        assert not store.read(lambda c: c.scalar(kept))


@pytest.mark.requirement("S1")
def test_an_idle_connection_that_the_server_closed_is_replaced(postgres_url: str) -> None:
    with closing(Store.open(postgres_url)) as store:
        pid = store.read(lambda c: c.scalar(PID))
        assert _asked(postgres_url, "SELECT pg_terminate_backend(%s, 60000)", pid)
        assert store.read(lambda c: c.scalar(PID)) != pid
