"""Save the rows of a SQLite file that SQLite itself cannot read any more.

A query stops at the first page that is damaged, and a damaged page of the tree hides every page
below it. Here each leaf page of a table is read by itself, independent of the others; an
incomplete row is left out. The format: https://www.sqlite.org/fileformat2.html.
"""

import json
import mmap
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from holdfast.hub import ids
from holdfast.hub.store.rows import Row, count
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import Json, metadata, projects, requests, tasks

Value: TypeAlias = int | float | str | bytes | None
RawRow: TypeAlias = tuple[Value, ...]
MAGIC = b"SQLite format 3\0"
PAGE_BYTES = 4096  # SQLite's default, used if the header is lost
WAL_HEAD, FRAME_HEAD = 32, 24
_LEAF = 0x0D
_MOST_ROW = 64 << 20
_INTEGERS = (0, 1, 2, 3, 4, 6, 8)  # how many bytes each kind takes


class Torn(Exception):
    """The row is incomplete."""


class RawFile:
    """The pages of a file and of its log."""

    def __init__(self, path: Path) -> None:
        log = Path(f"{path}-wal")
        with path.open("rb") as file:
            is_empty = not path.stat().st_size
            data = b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        wal = log.read_bytes() if log.is_file() else b""
        self._data: bytes | mmap.mmap = data
        self._size, reserved = _shape(data[:100])
        self._usable = self._size - reserved
        self._newer = _pages_in_log(wal, self._size)
        self._many = max([-(-len(data) // self._size), *self._newer])

    def page(self, number: int) -> bytes:
        """Return a page; empty if there is none."""
        at = (number - 1) * self._size
        newer = self._newer.get(number)
        return self._data[at : at + self._size] if newer is None and number > 0 else newer or b""

    def leaves(self) -> Iterator[int]:
        """Yield the number of every page that holds table rows. What was deleted was overwritten
        (`secure_delete`), so pages that are free hold none."""
        for number in range(1, self._many + 1):
            start = 100 if number == 1 else 0
            page = self.page(number)
            if len(page) == self._size and page[start] == _LEAF:
                yield number

    def rows(self, number: int) -> dict[int, RawRow]:
        """Return the complete rows of a leaf page, by rowid."""
        page, start = self.page(number), 100 if number == 1 else 0
        found: dict[int, RawRow] = {}
        (many,) = struct.unpack_from(">H", page, start + 3)
        for place in range(start + 8, min(start + 8 + 2 * many, self._usable - 1), 2):
            with suppress(Torn, IndexError, struct.error, UnicodeDecodeError, OverflowError):
                (at,) = struct.unpack_from(">H", page, place)
                rowid, payload = self._cell(page, at)
                found[rowid] = tuple(_values(payload))
        return found

    def _cell(self, page: bytes, at: int) -> tuple[int, bytes]:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        here = _in_page(length, self._usable)
        payload = page[at : min(at + here, self._usable)]
        if length > _MOST_ROW or len(payload) != here:
            raise Torn
        parts, left = [payload], length - here
        following = struct.unpack_from(">I", page, at + here)[0] if left else 0
        while left:
            part = self.page(following)[: self._usable]
            if len(part) != self._usable:
                raise Torn
            (following,) = struct.unpack_from(">I", part)
            parts.append(part[4 : 4 + left])
            left -= len(parts[-1])
        return rowid, b"".join(parts)


def _shape(head: bytes) -> tuple[int, int]:
    """Return the page size and the bytes reserved at a page's end."""
    if head.startswith(MAGIC) and head[21:24] == b"\x40\x20\x20":  # the same in every file
        size = int.from_bytes(head[16:18], "big")
        size = 65536 if size == 1 else size
        if 512 <= size <= 65536 and size & (size - 1) == 0:
            return size, head[20]
    return PAGE_BYTES, 0


def _pages_in_log(wal: bytes, size: int) -> dict[int, bytes]:
    """Return the newest image of each page in the log, from committed transactions."""
    if len(wal) < WAL_HEAD or wal[:3] != b"\x37\x7f\x06" or wal[3] not in (0x82, 0x83):
        return {}
    order = ">" if wal[3] == 0x83 else "<"
    salts, sums = wal[16:24], struct.unpack_from(">II", wal, 24)
    kept: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    for at in range(WAL_HEAD, len(wal) - FRAME_HEAD - size + 1, FRAME_HEAD + size):
        head, page = wal[at : at + FRAME_HEAD], wal[at + FRAME_HEAD : at + FRAME_HEAD + size]
        number, commits = struct.unpack_from(">II", head)
        sums = _checksum(order, head[:8] + page, *sums)
        if head[8:16] != salts or sums != struct.unpack_from(">II", head, 16):
            break
        waiting[number] = page
        if commits:
            kept |= waiting
            waiting = {}
    return kept


def _checksum(order: str, data: bytes, one: int, two: int) -> tuple[int, int]:
    for first, second in struct.iter_unpack(f"{order}II", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def _in_page(length: int, usable: int) -> int:
    """Return how much of a row is in its own page; the rest follows in overflow pages."""
    if length <= usable - 35:
        return length
    least = (usable - 12) * 32 // 255 - 23
    here = least + (length - least) % (usable - 4)
    return here if here <= usable - 35 else least


def _values(payload: bytes) -> Iterator[Value]:
    head, at = _varint(payload, 0)
    kinds = []
    while at < head:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != head:
        raise Torn
    for kind in kinds:
        value, at = _value(payload, at, kind)
        yield value
    if at != len(payload):
        raise Torn


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in (8, 9):
        return kind - 8, at
    if kind in (10, 11):
        raise Torn
    if kind == 7:
        return float(struct.unpack_from(">d", payload, at)[0]), at + 8
    many = (kind - 12) // 2 if kind >= 12 else _INTEGERS[kind]
    part = payload[at : at + many]
    if len(part) != many:
        raise Torn
    if kind == 0:
        return None, at
    if kind < 12:
        return int.from_bytes(part, "big", signed=True), at + many
    return (part.decode("utf-8") if kind % 2 else part), at + many


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(8):
        byte = data[at + n]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    value = value << 8 | data[at + 8]
    return (value - (1 << 64) if value >> 63 else value), at + 9


class RowsLeft:
    """The complete rows of each table."""

    def __init__(self, path: Path, tables: Sequence[sa.Table]) -> None:
        self._file = RawFile(path)
        self._pages: dict[str, list[int]] = {}
        for number in self._file.leaves():
            found = _table_of(self._file.rows(number).values(), tables)
            if found is not None:
                self._pages.setdefault(found.name, []).append(number)

    def of(self, table: sa.Table) -> Iterator[Row]:
        for number in self._pages.get(table.name, ()):
            for values in self._file.rows(number).values():
                if (row := _fit_row(table, values)) is not None:
                    yield row


def _table_of(rows: Iterable[RawRow], tables: Sequence[sa.Table]) -> sa.Table | None:
    """Return the table that most of the rows fit; the first of two that fit equally."""
    fits: Counter[sa.Table] = Counter()
    for values in rows:
        fits.update(table for table in tables if _fit_row(table, values) is not None)
    return max(tables, key=lambda table: fits[table]) if fits else None


def _fit_row(table: sa.Table, values: RawRow) -> Row | None:
    """Return the row, or None if its values do not fit the table."""
    if len(values) != len(table.columns):
        return None
    row: Row = {}
    for column, value in zip(table.columns, values, strict=True):
        row[column.name] = value
        if value is None:
            if not column.nullable:
                return None
        elif isinstance(column.type, Json):
            try:
                row[column.name] = json.loads(value)  # type: ignore[arg-type]
            except (TypeError, ValueError, RecursionError):
                return None
        elif not isinstance(value, int if isinstance(column.type, sa.Integer) else str):
            return None
    if table is projects and row["id"] != ids.project_id(row["path"]):
        return None  # its columns alone would fit another table too
    return row


NOT_SAVED = frozenset(("positions", "events"))
AT_ONCE = 500
LOST = "lost when the database was damaged"
NOWHERE = ids.project_id(f"/{LOST}")  # of requests and tasks whose own place is not known


def save(store: Store, files: Iterable[Path]) -> dict[str, int]:
    """Insert the rows of these files; earlier files win. Return how many there were, by table."""
    return store.write(partial(_save, files=[file for file in files if file.exists()]))


def _save(connection: sa.Connection, files: Sequence[Path]) -> dict[str, int]:
    connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")  # parents may be in a later file
    wanted = [table for table in metadata.sorted_tables if table.name not in NOT_SAVED]
    for file in files:
        left = RowsLeft(file, wanted)
        for table in wanted:
            rows = left.of(table)
            while some := list(islice(rows, AT_ONCE)):
                connection.execute(sqlite.insert(table).on_conflict_do_nothing(), some)
    saved = {table.name: count(connection, table) for table in wanted}
    for table in reversed(wanted):  # a placeholder needs a parent too
        for key in table.foreign_keys:
            _replace_lost_parents(connection, table, key)
    return {name: n for name, n in saved.items() if n}


def _replace_lost_parents(connection: sa.Connection, table: sa.Table, key: sa.ForeignKey) -> None:
    """Put a placeholder for a lost project, request or task; else clear or delete the row."""
    column, parent = key.parent, key.column.table
    is_lost = column.is_not(None) & column.not_in(sa.select(parent.c.id))
    if parent in (projects, requests, tasks):
        lost = connection.scalars(sa.select(column).where(is_lost).distinct()).all()
        for row_id in lost:
            connection.execute(sa.insert(parent), _placeholder(parent, row_id))
    elif column.nullable:
        connection.execute(sa.update(table).where(is_lost).values({column.name: None}))
    else:
        connection.execute(sa.delete(table).where(is_lost))


def _placeholder(table: sa.Table, row_id: str) -> Row:
    """The path of a project is filled in when a session in it reports: the id is made from it."""
    required = [column for column in table.columns if not column.nullable]
    row = {column.name: 0 if isinstance(column.type, sa.Integer) else LOST for column in required}
    row |= {key.parent.name: NOWHERE for key in table.foreign_keys}
    if table is projects:
        row["path"] = f"/{LOST}" if row_id == NOWHERE else f"/{LOST}/{row_id}"
    return {**row, "id": row_id}
