"""A backup of either engine is a SQLite database with the same tables, and either engine restores
it. docs/formats/backup.md. And a copy of a SQLite file that is made once a night.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from holdfast.hub.errors import Corrupt, NoBackup, NoRoom, StoreError
from holdfast.hub.store import schema
from holdfast.hub.store.engine import (
    WRITES,
    is_sqlite,
    open_engine,
    snapshot,
    translate_driver_errors,
    wait_for_locks,
)
from holdfast.hub.store.rows import count
from holdfast.hub.store.tables import metadata
from holdfast.wire import places

ROWS_AT_ONCE = 1000
MAGIC = b"SQLite format 3\0"


def keep(engine: sa.Engine, path: Path) -> dict[str, int]:
    """Write a backup, flush it, check it, then rename it. Return the rows by table."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        if path.exists():
            raise StoreError(f"{path} is there already", "give it another name", 3)
        if not path.parent.is_dir():
            raise StoreError(f"there is no folder {path.parent}", "name one that is there", 2)
        schema.ensure(engine, migrate=False)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with _opened(draft) as copy, _writing(copy) as target, snapshot(engine) as source:
            rows = _copy(source, target)
        with _opened(draft):
            pass  # what was written is whole
        draft.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise NoRoom(f"the backup was not saved: {error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return rows


@contextmanager
def opened_copy(path: Path) -> Iterator[sa.Engine]:
    """Open a copy of a backup, upgraded if it is older, to be restored. It lies in our own folder:
    if this process is killed, it stays there."""
    places.make_folder(places.home())
    with tempfile.TemporaryDirectory(dir=places.home(), prefix="restore-") as folder:
        copy = Path(folder) / "backup.db"
        try:
            shutil.copyfile(path, copy)
            with copy.open("rb") as file:
                is_database = file.read(len(MAGIC)) == MAGIC
        except OSError as error:
            raise NoBackup(f"{path} cannot be read: {error.strerror}") from error
        if not is_database:
            raise NoBackup(f"{path} is not a backup that Holdfast made")
        with _opened(copy) as kept:
            yield kept


def restore(kept: sa.Engine, engine: sa.Engine, *, replace: bool = False) -> dict[str, int]:
    """Restore an opened backup, completely or not at all, and return the rows by table."""
    schema.ensure(engine, migrate=True)
    with snapshot(kept) as source, _writing(engine) as target:
        return _restore(source, target, replace)


@contextmanager
def _opened(path: Path) -> Iterator[sa.Engine]:
    """Open a backup as a database of this version."""
    engine = open_engine(f"sqlite:///{quote(str(path))}")
    try:
        try:
            schema.check_integrity(engine)
            schema.ensure(engine, migrate=True)
        except Corrupt as error:
            raise NoBackup(f"{path.name} is not a whole backup: {error}") from error
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    connecting = engine.connect().execution_options(**WRITES)
    with translate_driver_errors(), connecting as connection, connection.begin():
        wait_for_locks(connection)
        yield connection


def _restore(source: sa.Connection, target: sa.Connection, replace: bool) -> dict[str, int]:
    tables = metadata.sorted_tables
    held = next((one.name for one in tables if target.execute(sa.select(one).limit(1)).first()), "")
    if held and not replace:
        raise StoreError(
            f"there are rows in this database already ({held})",
            "--yes puts the backup in their place; holdfast db backup keeps them first",
            3,
        )
    for table in reversed(tables):
        target.execute(sa.delete(table))
    try:
        rows = _copy(source, target)
    except DBAPIError as error:
        raise NoBackup(f"it does not fit: {error.orig}") from error
    if not is_sqlite(target):  # SQLite goes on numbering after the last row by itself
        newest = "(SELECT max(id) FROM events)"
        sequence = "pg_get_serial_sequence('events', 'id')"
        numbering = f"SELECT setval({sequence}, coalesce({newest}, 1), {newest} IS NOT NULL)"
        target.exec_driver_sql(numbering)
    return rows


def _copy(source: sa.Connection, target: sa.Connection) -> dict[str, int]:
    """Copy every row, parents first."""
    copied: dict[str, int] = {}
    for table in metadata.sorted_tables:
        found = source.execute(sa.select(table).execution_options(yield_per=ROWS_AT_ONCE))
        for some in found.mappings().partitions():
            target.execute(sa.insert(table), [dict(row) for row in some])
        if n := count(target, table):
            copied[table.name] = n
            if n != count(source, table):
                raise NoBackup(f"not every row of {table.name} arrived")
    return copied


def _flush(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        places.flush_to_disk(fd)
    finally:
        os.close(fd)


EVERY_SECONDS = 20 * 3600


def nightly_path(engine: sa.Engine) -> Path:
    return Path(f"{engine.url.database}.nightly")


def copy_nightly(engine: sa.Engine, every_seconds: float = EVERY_SECONDS) -> bool:
    """Copy a SQLite file for rows that no page of a damaged file holds, unless there is a fresh
    copy; return whether it was copied. A damaged file replaces no sound copy: then this raises."""
    target = nightly_path(engine)
    is_fresh = target.exists() and time.time() - target.stat().st_mtime < every_seconds
    if engine.dialect.name != "sqlite" or is_fresh:
        return False
    schema.check_integrity(engine)
    draft = Path(f"{target}.draft")
    draft.unlink(missing_ok=True)
    connection = engine.raw_connection()
    try:
        driver: Any = connection.driver_connection
        driver.execute("VACUUM INTO ?", (str(draft),))
        draft.chmod(0o600)
        draft.replace(target)
    finally:
        connection.close()
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return True
