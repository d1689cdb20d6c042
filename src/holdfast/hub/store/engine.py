"""Opening a database. On SQLite every write begins `BEGIN IMMEDIATE`: with a deferred begin, 8
writers lost 3,266 of 4,000 transactions to "busy".

Another process may set a damaged SQLite file aside. Whoever has it open would go on writing where
nobody looks, so a connection to a replaced file is not handed out.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import ArgumentError, DisconnectionError

from holdfast.hub.errors import NoSuchDatabase, Unreachable
from holdfast.hub.store.batch import encoded
from holdfast.wire import places

_OPEN = "holdfast_file"


def refuse_replaced_file(engine: Engine, path: str) -> None:
    """A connection to another file than the one at the path is not handed out: it is made anew."""

    def connect(dialect: Any, record: Any, args: Any, named: Any) -> Any:
        before = file_identity(
            path
        )  # first: a file that is swapped meanwhile is found out, not missed
        made = dialect.connect(*args, **named)
        record.info[_OPEN] = (path, before or file_identity(path))
        return made

    def check(_connection: Any, record: Any, _proxy: Any) -> None:
        there = file_identity(path)
        if there is None:
            raise Unreachable(f"the database file is gone: {path}")
        if record.info[_OPEN][1] != there:
            raise DisconnectionError

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkout", check)


def has_moved(connection: Connection) -> bool:
    """Never, where there is no file."""
    found = connection.info.get(_OPEN)
    return found is not None and file_identity(found[0]) != found[1]


def assert_here(connection: Connection) -> None:
    """After a commit, before anybody is told of it."""
    if has_moved(connection):
        raise Unreachable("the database file was replaced while this was written: try again")


def file_identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


VARIABLE = "HOLDFAST_DATABASE"
BUSY_SECONDS = 5
MOST_CONNECTIONS = 16
WRITES = {"holdfast_writes": True}
# FULL: a commit returns once its log is on the disk. With NORMAL, no flush followed any of 35
# acknowledged writes. `fullfsync`: macOS keeps an `fsync` in the drive's own memory.
# `secure_delete`: a row that was deleted is gone, also for whoever reads the pages of the file.
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "fullfsync=ON",
    "secure_delete=ON",
    "foreign_keys=ON",
)
# A network that swallows everything is noticed after half a minute, not after a quarter of an hour.
_ALIVE = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def default_url() -> str:
    """`HOLDFAST_DATABASE`, else a file of ours; a `?` or `%` in its path is part of the path."""
    ours = quote(os.fsencode(Path(places.home()) / "holdfast.db"))
    return os.environ.get(VARIABLE) or f"sqlite:///{ours}"


def shown(address: str) -> str:
    """An address without its password, for people and logs."""
    return parsed(address or default_url()).render_as_string(hide_password=True)


def parsed(address: str) -> URL:
    """An address of ours; whoever says `postgresql://` means the driver we ship with."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:  # not shown: it may hold a password
        raise NoSuchDatabase("that is no database address") from error
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise NoSuchDatabase(f"{url.get_backend_name()} is not a database Holdfast knows")
    return url


def open_engine(address: str) -> Engine:
    """An engine; nothing is connected or made yet, but for the folder of a SQLite file."""
    url = parsed(address)
    return _sqlite(url) if url.get_backend_name() == "sqlite" else _postgres(url)


def sqlite_file(address: str) -> Path | None:
    """The file behind an address, where there is one."""
    url = parsed(address or default_url())
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Read the whole database as it is at one instant, while others write."""
    with engine.connect() as connection:
        if not is_sqlite(connection):  # there, a transaction that reads sees one instant anyway
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


def is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def _sqlite(url: URL) -> Engine:
    if not url.database or url.database == ":memory:":
        raise NoSuchDatabase("a database in memory is gone with the process that made it")
    try:
        os.makedirs(Path(url.database).parent, mode=0o700, exist_ok=True)  # noqa: PTH103
    except (OSError, RecursionError) as error:
        raise NoSuchDatabase(f"the folder of the database cannot be made: {error}") from error
    engine = sa.create_engine(
        url,
        pool_size=MOST_CONNECTIONS,
        hide_parameters=True,  # an error is logged, and rows hold what people wrote
        json_serializer=_json_text,
        json_deserializer=_json_value,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )
    refuse_replaced_file(engine, url.database)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _json_text(value: Any) -> str:
    return encoded(value).decode()


def _json_value(text: str | bytes) -> Any:
    """msgspec reads a list of subtasks in a tenth of the time of `json`, which also reads what only
    Python writes: rows of older versions may hold `NaN` or half a surrogate."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return json.loads(text)


def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("holdfast_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgres(url: URL) -> Engine:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        from holdfast.settings.extras import command_for

        needed = command_for("postgres")
        raise NoSuchDatabase(f"PostgreSQL needs its driver: {needed}") from error
    del psycopg
    engine = sa.create_engine(
        url,
        pool_size=MOST_CONNECTIONS,
        hide_parameters=True,
        json_serializer=_json_text,
        json_deserializer=_json_value,
        pool_pre_ping=True,
        # without it an INSERT's rowcount is -1: "nothing was new" could not be told
        execution_options={"preserve_rowcount": True},
        connect_args={"connect_timeout": BUSY_SECONDS, "application_name": "holdfast", **_ALIVE},
    )
    event.listen(engine, "connect", _impatient)
    return engine


def _impatient(connection: Any, _record: Any) -> None:
    """Who waits for a lock of another session is told so in the end, as on SQLite. Said here and
    not at the start of the connection, where a pooler between us would refuse it."""
    connection.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    connection.commit()


def patient(connection: Connection) -> None:
    """For this transaction: wait for locks as long as others have them."""
    if not is_sqlite(connection):
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
