"""The index in a SQLite file: keyword search by FTS5, vectors searched with NumPy.

One file per project: one scope of 1,000,000 items took 144 ms (p95 761 ms) to search, ten of
100,000 take 13 ms each. Stdlib `sqlite3`, so that a cold search imports little. A file is created
owner-only, identified by its mark, and set aside if it is damaged.

The signs of all vectors (48 bytes each) stay in memory until the index changes.
The components of the nearest by signs are read from the file.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.memory import index, locations, words
from holdfast.memory.item import Item
from holdfast.wire import log, places

if TYPE_CHECKING:
    from holdfast.memory.vector import Kept

PIECES_FOR_ONE = 3  # this many pieces are compared in full for each entry that is wanted
SAMPLE = 2_000  # vectors of which the mean is made
T = TypeVar("T")
MARK = 0x401DFA5C
VERSION = 2
BUSY_SECONDS = 5.0
CACHE_KB = 8_192
_SCHEMA = f"""
PRAGMA application_id = {MARK};
PRAGMA user_version = {VERSION};
CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE sources (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL);
CREATE TABLE items (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, hash TEXT NOT NULL,
    author TEXT, cold INTEGER NOT NULL, session TEXT, agent TEXT, file TEXT,
    first_turn INTEGER, last_turn INTEGER, uuids TEXT, at TEXT, byte INTEGER,
    embedded INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX items_by_kind ON items (kind) WHERE kind != 'turn';
CREATE INDEX items_cold ON items (cold) WHERE cold;
CREATE INDEX items_missing ON items (place) WHERE NOT embedded;
CREATE VIRTUAL TABLE words USING fts5 (title, text, more, beside, tokenize = 'porter unicode61');
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.0, 0.5, 1.0)');
CREATE VIEW recall_items AS
    SELECT items.*, title, text, more FROM items JOIN words ON words.rowid = items.place;
CREATE TABLE vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL, piece INTEGER NOT NULL,
    bits BLOB NOT NULL, parts BLOB NOT NULL
);
CREATE INDEX vectors_by_place ON vectors (place);
"""
_GONE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_NO_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO)  # something else has this name


class Embedded(index.Index):
    """An index in a SQLite file, which threads use one at a time."""

    def __init__(self, project: str, path: str = "") -> None:
        self.project = project
        self.path = path or locations.index_file(project)
        self.lock = threading.RLock()
        self.connection = open_file(project, self.path)
        self._counted: tuple[object, index.IndexCounts] = None, index.IndexCounts()
        self._loaded: object = None  # the version of the index whose signs are loaded
        self._signs: tuple[Any, Any, Any] | None = None  # numbers, signs, mean of all vectors

    def close(self) -> None:
        self.connection.close()

    def __del__(self) -> None:
        if connection := getattr(self, "connection", None):
            connection.close()

    def ask(self, query: str, /, **values: Any) -> list[Any]:
        with self.lock, in_words(self.path):
            return self.connection.execute(query, values).fetchall()

    def write(self, change: Callable[[index.Statement], T]) -> T:
        """Begin with `BEGIN IMMEDIATE`: a deferred one can be "busy" in spite of the timeout."""
        with self.lock, in_words(self.path), self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            return change(self.ask)

    def _source(self, ask: index.Statement, name: str) -> tuple[int, str]:
        ask("INSERT OR IGNORE INTO sources VALUES (NULL, :name, '')", name=name)
        [(number, state)] = ask("SELECT number, state FROM sources WHERE name = :name", name=name)
        return number, state

    def _add(self, ask: index.Statement, added: Sequence[tuple[int, Item]]) -> None:
        marks = ", ".join("?" * 12)
        self.connection.executemany(
            "INSERT INTO items (place, hash, id, kind, author, cold, session, agent, file, "
            f"first_turn, last_turn, uuids, at, byte) VALUES (?, ?, {marks})",
            [(place, item.hash, *_row(item)) for place, item in added],
        )
        rows = [(place, (one.title, one.text, one.more)) for place, one in added]
        self.connection.executemany(
            "INSERT INTO words (rowid, title, text, more, beside) VALUES (?, ?, ?, ?, ?)",
            [
                (place, *texts, " ".join(words.name_parts("\n".join(texts))))
                for place, texts in rows
            ],
        )

    def _drop(self, ask: index.Statement, gone: Sequence[int]) -> None:
        listed = index.listing(gone)
        ask(f"DELETE FROM vectors WHERE place IN ({listed})")
        ask(f"DELETE FROM items WHERE place IN ({listed})")
        ask(f"DELETE FROM words WHERE rowid IN ({listed})")

    def begin_again(self) -> None:
        self.write(lambda ask: ask("INSERT INTO words (words) VALUES ('integrity-check')"))
        [(verdict,)] = self.ask("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise index.DamagedIndex(f"{self.path} is damaged: {verdict}", self.path)
        super().begin_again()

    def counts(self) -> index.IndexCounts:
        """Return the counts, cached until something changes: they take longer than a search."""
        with self.lock:
            version = self._version()
            if self._counted[0] != version:
                query = "SELECT count(*), coalesce(sum(embedded), 0) FROM items"
                items, vectors = self.ask(query)[0]
                self._counted = version, index.IndexCounts(items, vectors, self._embedder(self.ask))
            return self._counted[1]

    def _version(self) -> object:
        """Return a number that changes with every change by any process."""
        return self.ask("PRAGMA data_version")[0][0], self.connection.total_changes

    def scores(
        self,
        query: words.Query,
        vectors: Mapping[str, Any],
        many: index.Many,
        wanted: index.SearchFilter,
    ) -> tuple[index.Scores, dict[int, index.NearPiece]]:
        said = self._said(query, many.by_words, wanted)
        vector = vectors.get(self.counts().embedder) if vectors else None
        if vector is None or not self.counts().vectors:
            return said, {}
        near = self._nearest(vector, many.by_meaning, wanted)
        others = [place for place in said if place not in near]
        return said, near | self._nearness(vector, f"place IN ({index.listing(others)})")

    def _said(self, query: words.Query, most: int, wanted: index.SearchFilter) -> index.Scores:
        if not query.terms:
            return {}
        terms = " OR ".join(f'"{term}"' for term in query.terms)
        some = self._only(wanted, "rowid")
        statement = (
            f"SELECT rowid, -rank FROM words WHERE words MATCH :terms {some} "
            "ORDER BY rank LIMIT :most"
        )
        return dict(self.ask(statement, terms=terms, most=most, **_kinds(wanted)))

    def _only(self, wanted: index.SearchFilter, column: str) -> str:
        """Return the filter as a condition, which costs time; empty if everything is wanted."""
        clause = ""
        if not wanted.cold and self.ask("SELECT 1 FROM items WHERE cold LIMIT 1"):
            clause = f" AND {column} NOT IN (SELECT place FROM items WHERE cold)"
        if wanted.kinds:
            marks = ", ".join(f":{name}" for name in _kinds(wanted))
            clause += f" AND {column} IN (SELECT place FROM items WHERE kind IN ({marks}))"
        return clause

    def _embedder(self, ask: index.Statement) -> str:
        rows = ask("SELECT value FROM about WHERE name = 'embedder'")
        return str(rows[0][0]) if rows else ""

    def begin_vectors(self, embedder: str) -> None:
        def change(ask: index.Statement) -> None:
            if self._embedder(ask) != embedder:
                ask("DELETE FROM vectors")
                ask("UPDATE items SET embedded = false")
                ask("INSERT OR REPLACE INTO about VALUES ('embedder', :name)", name=embedder)

        self.write(change)

    def _put(self, ask: index.Statement, place: int, made: Sequence[Kept]) -> None:
        self.connection.executemany(
            "INSERT INTO vectors (place, piece, bits, parts) VALUES (?, ?, ?, ?)",
            [(place, number, *kept) for number, kept in enumerate(made)],
        )

    def _nearest(
        self, query: Any, most: int, wanted: index.SearchFilter
    ) -> dict[int, index.NearPiece]:
        from holdfast.memory import vector

        numbers, signs, _ = self._load_signs()
        if not len(numbers):
            return {}
        best = vector.fewest_differences(signs, query, most * PIECES_FOR_ONE)
        chosen = f"number IN ({index.listing(numbers[best].tolist())})"
        near = self._nearness(query, chosen + self._only(wanted, "place"), **_kinds(wanted))
        return dict(sorted(near.items(), key=lambda one: -one[1].score)[:most])

    def _nearness(self, query: Any, chosen: str, **values: Any) -> dict[int, index.NearPiece]:
        """Return similarities, less the mean: a text close to everything counts less."""
        from holdfast.memory import vector

        rows = self.ask(f"SELECT place, piece, parts FROM vectors WHERE {chosen}", **values)
        if not rows:
            return {}
        mean = self._load_signs()[2]
        near = vector.decode([parts for _, _, parts in rows]) @ (query - mean)
        return index.best_of(
            (place, piece, score)
            for (place, piece, _), score in zip(rows, near.tolist(), strict=True)
        )

    def _load_signs(self) -> tuple[Any, Any, Any]:
        """Load the signs of all vectors, if the index has changed."""
        version = self._version()
        if self._signs is None or version != self._loaded:
            import numpy as np

            from holdfast.memory import vector

            rows = self.ask("SELECT number, bits FROM vectors ORDER BY number")
            if not rows:
                return np.zeros(0), None, 0.0
            numbers = np.fromiter((row[0] for row in rows), np.int64, len(rows))
            signs = np.frombuffer(b"".join(row[1] for row in rows), np.uint64)
            some = self.ask("SELECT parts FROM vectors ORDER BY number LIMIT :most", most=SAMPLE)
            mean = vector.mean_of(vector.decode([parts for (parts,) in some]))
            columns = np.ascontiguousarray(signs.reshape(len(rows), -1).T)
            self._loaded, self._signs = version, (numbers, columns, mean)
        return self._signs


def _kinds(wanted: index.SearchFilter) -> dict[str, str]:
    return {f"kind{number}": kind for number, kind in enumerate(wanted.kinds)}


def _row(one: Item) -> Iterable[Any]:
    about = one.id, one.kind, one.by, int(one.cold), one.session, one.agent, one.file
    return *about, one.first_turn, one.last_turn, json.dumps(one.uuids), one.at, one.offset


def open_file(project: str, path: str = "") -> sqlite3.Connection:
    path = path or locations.index_file(project)
    with in_words(path):
        connection = _connect(path)
        try:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            connection.execute("PRAGMA temp_store = MEMORY")  # as in hub/store/engine
            if not _is_ours(connection, path):
                _make(connection, project)
        except BaseException:
            connection.close()  # else the error that is kept would keep the file open
            raise
        return connection


def _connect(path: str) -> sqlite3.Connection:
    folder = Path(path).parent
    if folder.is_symlink():
        raise OSError(f"{folder} is a link, and Holdfast writes through none; make it a folder")
    places.make_folder(str(folder))
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    os.close(os.open(path, flags, 0o600))  # SQLite would create it readable for everyone
    return sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def _is_ours(connection: sqlite3.Connection, path: str) -> bool:
    """Return whether the file is an index; False for an empty file, which is then filled."""
    # The tables are counted first: another process may make them, and the mark, at this moment.
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    mark, version = _identity(connection)
    if mark == 0 and not tables:
        return False
    if mark != MARK:
        raise index.DamagedIndex(f"{path} is not an index of ours", path)
    if version > VERSION:
        raise index.NewerIndex(f"{path} has version {version}; this Holdfast knows {VERSION}")
    if version < VERSION:
        raise index.DamagedIndex(f"{path} was written by an older Holdfast", path)
    return True


def _identity(connection: sqlite3.Connection) -> tuple[int, int]:
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    return mark, connection.execute("PRAGMA user_version").fetchone()[0]


def _make(connection: sqlite3.Connection, project: str) -> None:
    """Create the tables. If two processes do it at once, the second finds them."""
    with suppress(sqlite3.OperationalError):  # another process is just turning it on
        connection.execute("PRAGMA journal_mode = WAL")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _identity(connection)[0] != MARK:
            for statement in _SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES ('project', ?)", (project,))


def to_read(path: str, seconds: float) -> sqlite3.Connection:
    """Open for reading only. The path is quoted, because `?` has a meaning in the address."""
    from urllib.parse import quote

    whole = quote(os.fsencode(Path(path).absolute()))
    return sqlite3.connect(f"file://{whole}?mode=ro", uri=True, timeout=seconds)


def project_of(path: str) -> str:
    """Return the project of an index file. Raises DamagedIndex if it has none."""
    with in_words(path):
        connection = to_read(path, BUSY_SECONDS)
        try:
            if _identity(connection)[0] != MARK:
                raise index.DamagedIndex(f"{path} is not an index of ours", path)
            row = connection.execute("SELECT value FROM about WHERE name = 'project'").fetchone()
            return str(row[0])
        finally:
            connection.close()


def set_aside(path: str) -> str:
    """Rename a damaged index, so that it can be examined, and return its new path."""
    aside = f"{path}.damaged-{time.time_ns()}"
    with in_words(path):
        Path(path).replace(aside)
    for tail in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(path + tail).unlink()
    log.add("WARN", "recall", f"{path} was damaged; saved as {aside}, and made again")
    return aside


@contextmanager
def in_words(path: str = "") -> Iterator[None]:
    """Turn errors of SQLite and of the system into Holdfast's own."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
        if code in _GONE or any(word in str(error) for word in ("malformed", "not decode")):
            raise index.DamagedIndex(f"{path} is damaged: {error}", path) from error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise index.IndexBusy(f"{path} is in use: {error}") from error
        if code in _NO_ROOM:
            raise index.IndexFull(f"the disk of {path} is full or fails: {error}", path) from error
        if isinstance(error, sqlite3.ProgrammingError):
            raise  # a bug in our own code
        raise index.UnusableIndex(f"{path} cannot be used: {error}", path) from error
    except UnicodeEncodeError as error:
        raise index.UnusableIndex("a name that is not UTF-8 cannot be searched", path) from error
    except OSError as error:
        where, reason = path or error.filename, error.strerror or error
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise index.IndexFull(
                f"the disk of {where} is full or fails: {reason}", path
            ) from error
        kind = index.DamagedIndex if path and error.errno in _NO_FILE else index.UnusableIndex
        raise kind(f"{where} cannot be used: {reason}", path) from error
