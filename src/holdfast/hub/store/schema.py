"""The version of a database, its upgrade and its check. Migrations are added, never edited.

Reading the version costs one query; Alembic is imported only for an upgrade. A check has one
finding per question and changes nothing. A damaged SQLite file is set aside, never deleted; a new
one is rebuilt as far as possible.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from holdfast.files import lock
from holdfast.hub.errors import Corrupt, StoreError
from holdfast.hub.store.engine import (
    WRITES,
    default_url,
    is_sqlite,
    open_engine,
    snapshot,
    sqlite_file,
    translate_driver_errors,
    wait_for_locks,
)
from holdfast.hub.store.tables import metadata

FOLDER = Path(__file__).parent / "migrations"
HEAD = "0006"
OLDER = ("0001", "0002", "0003", "0004", "0005")  # of 0.1.0 and 0.2.0: 0006 begins with any of them
KNOWN = (*OLDER, HEAD)
ASK_VERSION = "SELECT version_num FROM alembic_version"
_LOCK = 0x401DFA58  # two servers that start at once upgrade one after the other


def version(connection: sa.Connection) -> str:
    """Return the version; empty for a new database."""
    is_new = not sa.inspect(connection).has_table("alembic_version")
    return "" if is_new else connection.exec_driver_sql(ASK_VERSION).scalar() or ""


def ensure(engine: sa.Engine, *, migrate: bool) -> str:
    """Upgrade the database if needed and allowed; return the version it had before."""
    with translate_driver_errors(), engine.connect() as connection:
        found = version(connection)
    if found == HEAD:
        return found
    refuse_newer(found)
    if not migrate:
        raise StoreError(
            f"the database is at version {found or 'none'}, this Holdfast needs {HEAD}",
            "holdfast db migrate",
            3,
        )
    with translate_driver_errors():
        _upgrade_locked(engine)
    return found


def refuse_newer(found: str) -> None:
    if found and found not in KNOWN:
        raise StoreError(
            f"the database is at version {found}; this Holdfast knows up to {HEAD}",
            "upgrade holdfast, or point it at another database",
            3,
        )


def _upgrade_locked(engine: sa.Engine) -> None:
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        wait_for_locks(connection)
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        found = version(connection)  # another process may have upgraded it meanwhile
        refuse_newer(found)
        if found != HEAD:
            upgrade(connection)


def upgrade(connection: sa.Connection) -> None:
    """Upgrade inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    if version(connection) in OLDER:
        connection.exec_driver_sql("DELETE FROM alembic_version")
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


OLDEST_POSTGRES = 15
MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    ok: bool
    words: str


def check_at(address: str) -> list[Finding]:
    """Check the database at an address; a missing file is not created."""
    file = sqlite_file(address)
    if file is not None and not os.path.lexists(file):
        return [Finding("version", False, f"none, {file} is not there; holdfast db migrate")]
    engine = open_engine(address or default_url())
    try:
        return check(engine)
    finally:
        engine.dispose()


def check(engine: sa.Engine) -> list[Finding]:
    """Check a database. An error is a finding too, and ends the check."""
    findings: list[Finding] = []
    try:
        with translate_driver_errors(), snapshot(engine) as connection:
            findings.extend(_findings(connection))
    except StoreError as error:
        name = "integrity" if isinstance(error, Corrupt) else "connection"
        findings.append(Finding(name, False, f"{error}; {error.hint}"))
    return findings


def check_integrity(engine: sa.Engine) -> None:
    """Run the quick integrity check; raises `Corrupt`."""
    with translate_driver_errors(), engine.connect() as connection:
        if is_sqlite(connection):
            errors = _pragma(connection, f"quick_check({MOST_SHOWN})")
            if errors != ["ok"]:
                raise Corrupt(f"the database is damaged: {errors[0]}")


def _findings(connection: sa.Connection) -> Iterator[Finding]:
    yield from _integrity(connection) if is_sqlite(connection) else _server(connection)
    found = version(connection)
    yield _version(found)
    if found == HEAD:
        yield _tables(connection)


def _version(found: str) -> Finding:
    if found == HEAD:
        return Finding("version", True, found)
    if found and found not in KNOWN:
        return Finding("version", False, f"{found}: made by a newer Holdfast; upgrade this one")
    return Finding("version", False, f"{found or 'none'}, not {HEAD}; holdfast db migrate")


def _integrity(connection: sa.Connection) -> Iterator[Finding]:
    errors = _pragma(connection, f"integrity_check({MOST_SHOWN})")
    sound = errors == ["ok"]
    words = "every page is sound" if sound else "; ".join([*errors, Corrupt.hint])
    yield Finding("integrity", sound, words)
    torn = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(MOST_SHOWN)
    lost = ", ".join(sorted({f"{row[0]} without its {row[2]}" for row in torn}))
    yield Finding("references", not torn, lost or "every row has what it belongs to")


def _server(connection: sa.Connection) -> Iterator[Finding]:
    number = int(_read_setting(connection, "server_version_num"))
    words = f"PostgreSQL {number // 10_000}.{number % 10_000}"
    old = number < OLDEST_POSTGRES * 10_000
    yield Finding("server", not old, words + f", {OLDEST_POSTGRES} or newer is needed" * old)
    settings = ("fsync", "synchronous_commit")
    off = [name for name in settings if _read_setting(connection, name) == "off"]
    lost = f"{' and '.join(off)} off: what was acknowledged may be lost in a power cut"
    yield Finding("durability", not off, lost if off else "a commit waits for the disk")


def _read_setting(connection: sa.Connection, setting: str) -> str:
    return str(connection.exec_driver_sql(f"SHOW {setting}").scalar_one())


def _tables(connection: sa.Connection) -> Finding:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    names = set(metadata.tables)
    options = {"include_name": lambda name, kind, _: kind != "table" or name in names}
    context = MigrationContext.configure(connection, opts=options)
    differences = compare_metadata(context, metadata)
    words = "; ".join(str(difference)[:120] for difference in differences[:MOST_SHOWN])
    return Finding("tables", not differences, words or f"{len(names)}, as they should be")


def _pragma(connection: sa.Connection, pragma: str) -> list[str]:
    return [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA {pragma}")]


OURS = (".db", ".sqlite", ".sqlite3")  # a file of any other name may be somebody's text
COMPANIONS = ("", "-wal", "-shm")


def set_aside_if_damaged(address: str = "") -> Path | None:
    """Set a damaged file aside and return its new path; None if it is sound or not a file."""
    path = sqlite_file(address)
    if path is None or not path.exists():
        return None
    error = _damage(address)
    if error is None:
        return None
    if path.suffix not in OURS:
        raise error
    with _folder_lock(path):  # another process may have set it aside meanwhile
        return _set_aside(path) if _damage(address) else None


def _damage(address: str) -> Corrupt | None:
    engine = open_engine(address or default_url())
    try:
        check_integrity(engine)
        return None
    except Corrupt as error:
        return error
    finally:
        engine.dispose()


def _set_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target, n = path.with_name(f"{path.name}.damaged-{stamp}"), 1
    while target.exists():
        target, n = path.with_name(f"{path.name}.damaged-{stamp}-{n}"), n + 1
    for companion in reversed(COMPANIONS):  # the log first: a new database must not replay it
        part = Path(f"{path}{companion}")
        if part.exists():
            part.replace(f"{target}{companion}")
    return target


@contextmanager
def _folder_lock(path: Path) -> Iterator[None]:
    fd = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lock.acquire(fd, lock.FOREVER)
        yield
    finally:
        os.close(fd)
