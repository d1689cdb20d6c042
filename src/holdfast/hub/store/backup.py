"""A backup both engines can write and both can read: gzipped JSON lines, proven by a hash.

The first line names version and tables, then each table's columns and rows, and the last line
holds how many rows there were and the SHA-256 of all lines before it. docs/formats/backup.md.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError

from holdfast.hub.errors import (
    NameTaken,
    NoBackup,
    NoRoom,
    NoSuchBackup,
    NotABackup,
    NotEmpty,
    TooNew,
)
from holdfast.hub.row_times import now_ms
from holdfast.hub.store import schema
from holdfast.hub.store.engine import (
    WRITES,
    is_sqlite,
    snapshot,
    translate_driver_errors,
    translate_error,
    wait_for_locks,
)
from holdfast.hub.store.rows import count
from holdfast.hub.store.tables import Json, metadata
from holdfast.wire import places

FORMAT = 1
MOST_LINE = 64 << 20
ROWS_AT_ONCE = 1000


def keep(engine: Engine, path: Path) -> dict[str, int]:
    """Write a backup, flush it, read it back, then rename it. Return the rows by table."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        if path.exists():
            raise NameTaken(f"{path} is there already")
        with translate_driver_errors(), snapshot(engine) as connection:
            rows = _write(draft, _lines(connection))
        lines = lines_of(draft)
        head_of(lines)
        if Counter(table for table, _, _ in rows_of(lines)) != rows:
            raise NoBackup(f"{draft.name} does not hold what was written to it")
        draft.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise NoRoom(f"the backup was not saved: {error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return dict(rows)


def ours(connection: Connection) -> list[sa.Table]:
    """Return Holdfast's tables as this database has them, parents first."""
    there = sa.MetaData()
    there.reflect(connection, only=lambda name, _: name in metadata.tables)
    return list(there.sorted_tables)


def _lines(connection: Connection) -> Iterator[tuple[str, Any]]:
    version = schema.version(connection)
    schema.refuse_newer(version)
    if not version:
        raise NoBackup("there is nothing to keep: nobody has made this database yet")
    yield (
        "",
        {"holdfast": "backup", "format": FORMAT, "version": version, "made_ms": now_ms()},
    )
    for table in ours(connection):
        columns = [str(column.name) for column in table.columns]
        yield "", {"table": str(table.name), "columns": columns}
        query = sa.select(table).order_by(*table.primary_key.columns)
        for row in connection.execute(query.execution_options(yield_per=ROWS_AT_ONCE)):
            yield str(table.name), list(row)


def _write(draft: Path, lines: Iterable[tuple[str, Any]]) -> Counter[str]:
    rows: Counter[str] = Counter()
    digest = hashlib.sha256()
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
            for table, content in lines:
                line = msgspec.json.encode(content) + b"\n"
                digest.update(line)
                packed.write(line)
                if table:
                    rows[table] += 1
            packed.write(msgspec.json.encode({"rows": rows, "sha256": digest.hexdigest()}) + b"\n")
        file.flush()
        places.flush_to_disk(file.fileno())
    return rows


def lines_of(path: Path) -> Iterator[Any]:
    """Yield every line, decoded; the last one only if its hash matches the lines before it."""
    digest = hashlib.sha256()
    try:
        with gzip.open(path, "rb") as packed:
            while line := packed.readline(MOST_LINE):
                if len(line) == MOST_LINE:
                    raise EOFError("a line without an end")
                content = msgspec.json.decode(line)
                if isinstance(content, dict) and "sha256" in content:
                    if content["sha256"] != digest.hexdigest() or packed.read(1):
                        raise NoBackup(f"{path} is not what was written: its hash does not fit")
                    yield content
                    return
                digest.update(line)
                yield content
    except FileNotFoundError:
        raise NoSuchBackup(f"{path} is not there") from None
    except gzip.BadGzipFile:
        raise NotABackup(f"{path} is not a backup that Holdfast made") from None
    except (OSError, EOFError, ValueError, zlib.error, RecursionError) as error:
        raise NoBackup(f"{path} is not a backup, or not a whole one: {error}") from error
    if digest.digest() == hashlib.sha256().digest():  # it is empty
        raise NotABackup(f"{path} is not a backup that Holdfast made")
    raise NoBackup(f"{path} ends too early")


def head_of(lines: Iterator[Any]) -> str:
    """Return the version of the database that was kept."""
    first = next(lines, None)
    if not isinstance(first, dict) or first.get("holdfast") != "backup":
        raise NotABackup("the file is not a backup that Holdfast made")
    if first.get("format") != FORMAT:
        raise NoBackup(f"a backup of format {first.get('format')}; this Holdfast reads {FORMAT}")
    return str(first.get("version"))


def rows_of(lines: Iterator[Any]) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Yield table, columns and values of each row; the last line's counts must match."""
    table, columns, seen = "", [""], Counter[str]()
    for content in lines:
        if isinstance(content, list):
            if len(content) != len(columns):
                raise NoBackup(f"a row of {table or 'no table'} does not fit its columns")
            seen[table] += 1
            yield table, columns, content
        elif "table" in content:
            table, columns = str(content["table"]), list(content["columns"])
        elif content["rows"] != seen:
            raise NoBackup("the rows are not as many as were written")


def _flush(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        places.flush_to_disk(fd)
    finally:
        os.close(fd)


RETIRED = ("counts", "tool_counts")  # tables of backups that older versions made
# The search tables on PostgreSQL are an index: no backup holds them.
_INDEXED = ("recall_items", "recall_vectors", "recall_sources", "recall_projects")
_NO_INDEX = (
    *(f"DROP TABLE IF EXISTS {name}" for name in _INDEXED),
    "DROP TEXT SEARCH CONFIGURATION IF EXISTS holdfast",
    "DROP TEXT SEARCH DICTIONARY IF EXISTS holdfast_stem",
)


def restore(engine: Engine, path: Path, *, replace: bool = False) -> dict[str, int]:
    """Restore a backup and return the rows by table. An older version is upgraded afterwards."""
    lines = lines_of(path)
    version = head_of(lines)
    if version not in schema.KNOWN:
        raise TooNew(f"the backup is of version {version}; this is {schema.HEAD}")
    try:
        with engine.connect().execution_options(**WRITES) as connection, connection.begin():
            return _restore(connection, lines, replace)
    except DBAPIError as error:
        known = translate_error(error)
        raise (NoBackup(f"it does not fit: {error.orig}") if known is error else known) from error


def _restore(connection: Connection, lines: Iterator[Any], replace: bool) -> dict[str, int]:
    wait_for_locks(connection)
    schema.refuse_newer(schema.version(connection))
    if not replace and (table := _table_with_rows(connection)):
        raise NotEmpty(f"there are rows in this database already ({table})")
    clear(connection)
    schema.upgrade(connection)
    rows = _fill(connection, lines)
    _continue_numbering(connection)
    return rows


def _table_with_rows(connection: Connection) -> str:
    for table in ours(connection):
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first():
            return table.name
    return ""


def clear(connection: Connection) -> None:
    """Drop only Holdfast's tables: a team's database may hold others."""
    there = sa.MetaData()
    names = {*metadata.tables, *RETIRED, "alembic_version"}
    there.reflect(connection, only=lambda name, _: name in names)
    there.drop_all(connection)
    if not is_sqlite(connection):
        for statement in _NO_INDEX:
            connection.exec_driver_sql(statement)


def _fill(connection: Connection, lines: Iterator[Any]) -> dict[str, int]:
    filled: dict[str, int] = {}
    for name, rows in groupby(rows_of(lines), key=itemgetter(0)):
        if name in RETIRED:
            continue
        if name not in metadata.tables:
            raise NoBackup(f"there is no table {name} in this version")
        table, filled[name] = metadata.tables[name], 0
        while some := list(islice(rows, ROWS_AT_ONCE)):
            whole = [_bound(table, columns, values) for _, columns, values in some]
            connection.execute(sa.insert(table), whole)
            filled[name] += len(some)
        if count(connection, table) != filled[name]:
            raise NoBackup(f"not every row of {name} arrived")
    return filled


def _bound(table: sa.Table, columns: list[str], values: list[Any]) -> dict[str, Any]:
    """Return a row; a JSON column without a value holds no JSON, not even `null`."""
    return {
        name: sa.null() if value is None and isinstance(table.c[name].type, Json) else value
        for name, value in zip(columns, values, strict=True)
    }


def _continue_numbering(connection: Connection) -> None:
    """Let PostgreSQL continue numbering after the last row; SQLite does so by itself."""
    if not is_sqlite(connection):
        newest = "(SELECT max(id) FROM events)"
        sequence = "pg_get_serial_sequence('events', 'id')"
        connection.exec_driver_sql(
            f"SELECT setval({sequence}, coalesce({newest}, 1), {newest} IS NOT NULL)"
        )
