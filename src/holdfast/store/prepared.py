"""One statement of PostgreSQL, prepared once for a connection and sent by libpq itself: what the
driver does around it (finding types, waiting step by step) takes four times as long as sending.

Alone it needs neither BEGIN nor COMMIT, each a way of its own: the server answers once it is on
the disk. Where a transaction is under way, it goes the usual way, as a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

_IDLE, _ANSWERED = 0, (1, 2)  # as libpq numbers them: no transaction; done, done with rows
_PREPARED = "holdfast_prepared"


def run(connection: Connection, sql: str, given: Mapping[str, bytes], *, alone: bool) -> None:
    """Values stand in `sql` as `{name}`, in the order they are given."""
    raw: Any = connection.connection.driver_connection
    if alone and raw.pgconn.transaction_status == _IDLE:
        _send(connection, raw, sql, given)
        return
    told = {name: value.decode() for name, value in given.items()}
    connection.exec_driver_sql(_named(sql, tuple(given)), told).close()


def _send(connection: Connection, raw: Any, sql: str, given: Mapping[str, bytes]) -> None:
    known: dict[str, bytes] = connection.info.setdefault(_PREPARED, {})
    name = known.get(sql)
    if name is None:
        name = b"holdfast_%d" % len(known)
        _check(connection, raw, sql, raw.pgconn.prepare(name, _numbered(sql, tuple(given))))
        known[sql] = name
    _check(connection, raw, sql, raw.pgconn.exec_prepared(name, list(given.values())))


def _check(connection: Connection, raw: Any, sql: str, result: Any) -> None:
    """A slip as it would come the usual way, so that everybody knows it."""
    if result.status in _ANSWERED:
        return
    from psycopg.errors import error_from_result

    slip: Any = error_from_result(result)
    dialect = connection.dialect
    assert dialect.loaded_dbapi is not None
    raise DBAPIError.instance(
        sql,
        None,
        slip,
        dialect.loaded_dbapi.Error,
        connection_invalidated=dialect.is_disconnect(slip, raw, None),
        dialect=dialect,
    ) from slip


@cache
def _named(sql: str, names: tuple[str, ...]) -> str:
    return sql.format_map({name: f"%({name})s" for name in names})


@cache
def _numbered(sql: str, names: tuple[str, ...]) -> bytes:
    return sql.format_map({name: f"${n}" for n, name in enumerate(names, 1)}).encode()
