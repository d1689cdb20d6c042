"""Opening a database, and translating its driver's errors that have a known remedy.

On SQLite every write begins `BEGIN IMMEDIATE`: with a deferred begin, 8 writers lost 3,266 of 4,000
transactions to "busy".

Another process may set a damaged SQLite file aside. A process that still has it open would write to
a file that nobody reads, so the pool hands out no connection to a replaced file.
"""

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
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, OperationalError

from holdfast.hub.errors import Corrupt, Denied, NoRoom, NoSuchDatabase, StoreError, Unreachable
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

# Words of SQLite, and codes of PostgreSQL, whose texts may quote a row ("Key (path)=(malformed)").
# A file is only ever set aside for the first kind: a full disk must not look like damage.
_KNOWN: tuple[tuple[tuple[str, ...], type[StoreError], str], ...] = (
    (
        ("malformed", "not a database", "could not decode to utf-8"),
        Corrupt,
        "the database is damaged",
    ),
    (
        ("database or disk is full", "no space left", "disk quota", "53100"),
        NoRoom,
        "the disk is full",
    ),
    (("disk i/o error", "file too large"), NoRoom, "the disk takes no more"),
    (("readonly database", "25006"), Denied, "the database may not be written to"),
    (("unable to open",), Denied, "the database file cannot be opened"),
    (("42501",), Denied, "the database lets this role do less than is needed"),
    (("55P03",), Unreachable, "the database is busy: another session holds a lock"),
)


@contextmanager
def translate_driver_errors() -> Iterator[None]:
    """Raise Holdfast's error if the meaning is known, else the driver's own."""
    try:
        yield
    except DBAPIError as error:
        raise (known_error(error) or error) from error


def is_failure(error: BaseException) -> bool:
    """Return whether a valid change could not be written; a refused one is no failure."""
    return isinstance(error, StoreError) or not isinstance(error, HoldfastError)


def public_message(error: BaseException) -> str:
    """Describe a failure without addresses or row values, which a driver's text may hold."""
    known = known_error(error) if isinstance(error, DBAPIError) else None
    shown = known or error
    if isinstance(shown, StoreError):
        return str(shown).partition(":")[0]
    kind = type(error.orig if isinstance(error, DBAPIError) else error).__name__
    return f"a write failed with {kind}; holdfast log has the details"


def known_error(error: DBAPIError) -> StoreError | None:
    state = getattr(error.orig, "sqlstate", None)
    text = state or str(error.orig).lower()
    for words, kind, meaning in _KNOWN:
        if any(word in text for word in words):
            return kind(f"{meaning}: {_first_line(error.orig)}")
    if isinstance(error, OperationalError) or error.connection_invalidated:
        return Unreachable(f"the database does not answer: {_first_line(error.orig)}")
    return None


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0]


_OPEN = "holdfast_file"


def refuse_replaced_file(engine: Engine, path: str) -> None:
    """Replace pooled connections to any file other than the one at the path."""

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, args: Any, named: Any) -> Any:
        before = file_identity(path)  # first, so that a swap during connect is noticed
        made = dialect.connect(*args, **named)
        record.info[_OPEN] = (path, before or file_identity(path))
        return made

    @event.listens_for(engine, "checkout")
    def check(_connection: Any, record: Any, _proxy: Any) -> None:
        there = file_identity(path)
        if there is None:
            raise Unreachable(f"the database file is gone: {path}")
        if record.info[_OPEN][1] != there:
            raise DisconnectionError


def assert_not_replaced(connection: Connection) -> None:
    """Raise if the file was replaced. Called after a commit, before it is reported."""
    path, identity = connection.info.get(_OPEN, (None, None))
    if path is not None and file_identity(path) != identity:
        raise Unreachable("the database file was replaced while this was written: try again")


def file_identity(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


VARIABLE = "HOLDFAST_DATABASE"
# Parts of the names of options that may hold a secret; a `passfile` is only named.
_SECRET = ("password", "secret", "token", "passwd", "pwd")
_HIDDEN = "***"  # as SQLAlchemy shows the password before the host
BUSY_SECONDS = 5
MOST_CONNECTIONS = 16
WRITES = {"holdfast_writes": True}
# FULL: a commit returns once its log is on the disk. With NORMAL, no flush followed any of 35
# acknowledged writes. `fullfsync`: macOS keeps an `fsync` in the drive's own memory.
# `secure_delete`: a deleted row cannot be read from the file's pages either.
# `temp_store`: killed between two calls, SQLite would leave an empty file in /tmp.
PRAGMAS = (
    *("journal_mode=WAL", "synchronous=FULL", "fullfsync=ON", "secure_delete=ON"),
    *("foreign_keys=ON", "temp_store=MEMORY"),
)
# A dead network is noticed after half a minute instead of a quarter of an hour.
_ALIVE = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def default_url() -> str:
    """Return `HOLDFAST_DATABASE` or Holdfast's own file; its path may contain `?` or `%`."""
    path = quote(os.fsencode(Path(places.home()) / "holdfast.db"))
    return os.environ.get(VARIABLE) or f"sqlite:///{path}"


def hide_password(address: str) -> str:
    """Return an address without its passwords, for people and logs."""
    return shown_url(parse_url(address or default_url()))


def shown_url(url: URL) -> str:
    """Render an address without its passwords: before the host, and in the query."""
    options = {
        name: _HIDDEN if any(part in name.lower() for part in _SECRET) else value
        for name, value in url.query.items()
    }
    shown = url.set(query=options).render_as_string(hide_password=True)
    return shown.replace(quote(_HIDDEN), _HIDDEN)


def parse_url(address: str) -> URL:
    """Parse a database address; `postgresql://` means the driver Holdfast ships with."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:  # the address may hold a password
        raise NoSuchDatabase("that is no database address") from error
    if "@" in (url.host or ""):  # the end of the password, which every error would show
        raise NoSuchDatabase("the password in the database address has an `@`: write it as %40")
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise NoSuchDatabase(f"{url.get_backend_name()} is not a database Holdfast knows")
    return url


def open_engine(address: str) -> Engine:
    """Return an engine. Nothing is connected or created yet, except a SQLite file's folder."""
    url = parse_url(address)
    return _sqlite(url) if url.get_backend_name() == "sqlite" else _postgres(url)


def sqlite_file(address: str) -> Path | None:
    """Return the file of a SQLite address, else None."""
    url = parse_url(address or default_url())
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
        raise NoSuchDatabase("a database in memory ends with its process")
    try:
        Path(url.database).parent.mkdir(0o700, parents=True, exist_ok=True)
    except (OSError, RecursionError) as error:
        raise NoSuchDatabase(f"the folder of the database cannot be made: {error}") from error
    engine = _create(url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False})
    refuse_replaced_file(engine, url.database)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _create(url: URL, **more: Any) -> Engine:
    return sa.create_engine(
        url,
        pool_size=MOST_CONNECTIONS,
        hide_parameters=True,  # an error is logged, and rows hold what people wrote
        json_serializer=lambda value: msgspec.json.encode(value).decode(),
        json_deserializer=_json_value,
        **more,
    )


def _json_value(text: str | bytes) -> Any:
    """msgspec reads a list of subtasks in a tenth of the time of `json`, which also reads what only
    Python writes: rows of older versions may hold `NaN` or half a surrogate."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return json.loads(text)


def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # Holdfast issues BEGIN itself
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("holdfast_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgres(url: URL) -> Engine:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        from holdfast.files.executable import install_command_for

        needed = install_command_for("postgres")
        raise NoSuchDatabase(f"PostgreSQL needs its driver: {needed}") from error
    del psycopg
    engine = _create(
        url,
        pool_pre_ping=True,  # the server may have been restarted
        # without it an INSERT's rowcount is -1: "nothing was new" could not be detected
        execution_options={"preserve_rowcount": True},
        connect_args={"connect_timeout": BUSY_SECONDS, "application_name": "holdfast", **_ALIVE},
    )
    event.listen(engine, "connect", _set_lock_timeout)
    return engine


def _set_lock_timeout(connection: Any, _record: Any) -> None:
    """Limit the wait for another session's lock, as on SQLite. It is set here and not as a
    connection option, which a pooler in between would refuse."""
    connection.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    connection.commit()


def wait_for_locks(connection: Connection) -> None:
    """In this transaction, wait for locks without a limit."""
    if not is_sqlite(connection):
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
