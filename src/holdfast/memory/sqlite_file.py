"""A project's SQLite file: created owner-only, identified by its mark, set aside if damaged."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.memory import locations
from holdfast.memory.errors import DamagedIndex, IndexBusy, IndexFull, NewerIndex, UnusableIndex
from holdfast.wire import log, places

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


def open_file(project: str, path: str = "") -> sqlite3.Connection:
    """Open the index of a project, or create it."""
    path = path or locations.index_file(project)
    with in_words(path):
        connection = _connect(path)
        try:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            if not _is_ours(connection, path):
                _make(connection, project)
        except BaseException:
            connection.close()  # else the error that is kept would keep the file open
            raise
        return connection


def _connect(path: str) -> sqlite3.Connection:
    folder = os.path.dirname(path)  # noqa: PTH120
    if Path(folder).is_symlink():
        raise OSError(f"{folder} is a link, and Holdfast writes through none; make it a folder")
    places.make_folder(folder)
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
        raise DamagedIndex(f"{path} is not an index of ours", path)
    if version > VERSION:
        raise NewerIndex(f"{path} has version {version}; this Holdfast knows {VERSION}")
    if version < VERSION:
        raise DamagedIndex(f"{path} was written by an older Holdfast", path)
    return True


def _identity(connection: sqlite3.Connection) -> tuple[int, int]:
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    return mark, connection.execute("PRAGMA user_version").fetchone()[0]


def _make(connection: sqlite3.Connection, project: str) -> None:
    """Create the tables. If two processes do it at once, the second finds them."""
    with suppress(sqlite3.OperationalError):  # another process is just turning it on
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _identity(connection)[0] != MARK:
            for statement in _SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES ('project', ?)", (project,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite may have rolled it back itself
            connection.execute("ROLLBACK")
        raise


def to_read(path: str, seconds: float) -> sqlite3.Connection:
    """Open for reading only. The path is quoted, because `?` has a meaning in the address."""
    from urllib.parse import quote

    whole = quote(os.fsencode(os.path.abspath(path)))  # noqa: PTH100
    return sqlite3.connect(f"file://{whole}?mode=ro", uri=True, timeout=seconds)


def project_of(path: str) -> str:
    """Return the project of an index file. Raises DamagedIndex if it has none."""
    with in_words(path):
        connection = to_read(path, BUSY_SECONDS)
        try:
            if _identity(connection)[0] != MARK:
                raise DamagedIndex(f"{path} is not an index of ours", path)
            row = connection.execute("SELECT value FROM about WHERE name = 'project'").fetchone()
            return str(row[0])
        finally:
            connection.close()


def set_aside(path: str) -> str:
    """Rename a damaged index, so that it can be examined, and return its new path."""
    aside = f"{path}.damaged-{time.time_ns()}"
    with in_words(path):
        os.replace(path, aside)  # noqa: PTH105
    for tail in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(path + tail).unlink()
    log.add("WARN", "recall", f"{path} was damaged; saved as {aside}, and made again")
    return aside


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Turn errors of SQLite and of the system into Holdfast's own."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
        if code in _GONE or any(word in str(error) for word in ("malformed", "not decode")):
            raise DamagedIndex(f"{path} is damaged: {error}", path) from error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise IndexBusy(f"{path} is in use: {error}") from error
        if code in _NO_ROOM:
            raise IndexFull(f"the disk of {path} is full or fails: {error}", path) from error
        if isinstance(error, sqlite3.ProgrammingError):
            raise  # a bug in our own code
        raise UnusableIndex(f"{path} cannot be used: {error}", path) from error
    except UnicodeEncodeError as error:
        raise UnusableIndex(f"{path} cannot be used: a name that is not UTF-8", path) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise IndexFull(
                f"the disk of {path} is full or fails: {error.strerror}", path
            ) from error
        kind = DamagedIndex if error.errno in _NO_FILE else UnusableIndex
        raise kind(f"{path} cannot be used: {error.strerror or error}", path) from error
