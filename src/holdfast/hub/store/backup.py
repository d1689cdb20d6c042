"""A backup both engines can write and both can read: gzipped JSON lines, proven by a hash.

The first line names version and tables, then each table's columns and rows, and the last line
holds how many rows there were and the SHA-256 of all lines before it. docs/formats/backup.md.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from holdfast.hub.store import schema
from holdfast.hub.store.driver_errors import in_words
from holdfast.hub.store.engine import snapshot
from holdfast.hub.store.errors import NameTaken, NoBackup, NoRoom, NoSuchBackup
from holdfast.hub.store.tables import metadata

FORMAT = 1
MOST_LINE = 64 << 20
ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Head:
    version: str
    made_ms: int


def keep(engine: Engine, path: Path) -> dict[str, int]:
    """Write, flush, read back, and only then give it its name. Rows by table."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        if path.exists():
            raise NameTaken(f"{path} is there already")
        with in_words(), snapshot(engine) as connection:
            rows = _write(draft, _lines(connection))
        if read_back(draft) != rows:
            raise NoBackup(f"{draft.name} does not hold what was written to it")
        draft.replace(path)
        _flush(path.parent)
    except OSError as slip:
        raise NoRoom(f"the backup was not saved: {slip}") from slip
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return rows


def read_back(path: Path) -> dict[str, int]:
    """Rows by table of a whole backup; anything less is refused."""
    rows: dict[str, int] = {}
    for table, _columns, _row in parsed(lines_of(path)):
        rows[table] = rows.get(table, 0) + 1
    return rows


def ours(connection: Connection) -> list[sa.Table]:
    """Our tables as this database has them, each after those it belongs to."""
    there = sa.MetaData()
    there.reflect(connection, only=lambda name, _: name in metadata.tables)
    return list(there.sorted_tables)


def _lines(connection: Connection) -> Iterator[tuple[str, Any]]:
    version = schema.version(connection)
    schema.refuse_newer(version)
    if not version:
        raise NoBackup("there is nothing to keep: nobody has made this database yet")
    yield "", {"holdfast": "backup", "format": FORMAT, "version": version, "made_ms": _now_ms()}
    for table in ours(connection):
        columns = [str(column.name) for column in table.columns]
        yield "", {"table": str(table.name), "columns": columns}
        query = sa.select(table).order_by(*table.primary_key.columns)
        for row in connection.execute(query.execution_options(yield_per=ROWS_AT_ONCE)):
            yield str(table.name), list(row)


def _write(draft: Path, lines: Iterable[tuple[str, Any]]) -> dict[str, int]:
    rows: dict[str, int] = {}
    digest = hashlib.sha256()
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
            for table, content in lines:
                line = msgspec.json.encode(content) + b"\n"
                digest.update(line)
                packed.write(line)
                if table:
                    rows[table] = rows.get(table, 0) + 1
            packed.write(msgspec.json.encode({"rows": rows, "sha256": digest.hexdigest()}) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return rows


def lines_of(path: Path) -> Iterator[Any]:
    """Every line, decoded; the last one only once its hash fits what came before it."""
    digest = hashlib.sha256()
    try:
        with gzip.open(path, "rb") as packed:
            while line := _line(packed):
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
    except (OSError, EOFError, zlib.error, msgspec.DecodeError, RecursionError) as slip:
        raise NoBackup(f"{path} is no backup, or not a whole one: {slip}") from slip
    raise NoBackup(f"{path} ends too early")


def head_of(lines: Iterator[Any]) -> Head:
    first = next(lines, None)
    if not isinstance(first, dict) or first.get("holdfast") != "backup":
        raise NoBackup("this is no backup of Holdfast's")
    if first.get("format") != FORMAT:
        raise NoBackup(f"a backup of format {first.get('format')}; this Holdfast reads {FORMAT}")
    return Head(str(first.get("version")), int(first.get("made_ms") or 0))


def parsed(lines: Iterator[Any]) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Table, columns and values of each row; the counts of the last line must fit."""
    head_of(lines)
    return rows_of(lines)


def rows_of(lines: Iterator[Any]) -> Iterator[tuple[str, list[str], list[Any]]]:
    table, columns, seen = "", [""], dict[str, int]()
    for content in lines:
        if isinstance(content, list):
            if len(content) != len(columns):
                raise NoBackup(f"a row of {table or 'no table'} does not fit its columns")
            seen[table] = seen.get(table, 0) + 1
            yield table, columns, content
        elif "table" in content:
            table, columns = str(content["table"]), list(content["columns"])
        elif content["rows"] != seen:
            raise NoBackup("the rows are not as many as were written")


def _line(packed: gzip.GzipFile | IO[bytes]) -> bytes:
    line: bytes = packed.readline(MOST_LINE)
    if len(line) == MOST_LINE:
        raise EOFError("a line without an end")
    return line


def _flush(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _now_ms() -> int:
    return int(time.time() * 1000)
