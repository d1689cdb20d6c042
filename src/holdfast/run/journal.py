"""The journal of a run: one line per event, on disk before anything depends on it.

It is replaced as a whole, so no line is ever torn. An unreadable line is damage: a copy of the file
is set aside, and the readable lines continue.

The journal of a plan lies in a folder named by the paths of the plan and the project, not by the
plan's content, so that an edited plan continues. Two locks beside it allow one runner per plan, and
none while sessions of the last one are still ending.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from holdfast.files import lock, small_files
from holdfast.plan.task import digest
from holdfast.run.errors import AlreadyRunning, JournalNotWritten, NewerJournal
from holdfast.wire import places

VERSION = 1
KINDS = frozenset(("run", "started", "ended", "checkpoint"))
PATIENCE_SECONDS = 30.0  # longer than a supervisor needs to end its processes
Record = dict[str, Any]


class Journal:
    """Open it under the plan's lock, so that there is one writer."""

    def __init__(self, folder: str, only_read: bool = False) -> None:
        self.path = f"{folder}/journal.jsonl"
        self._lock = threading.Lock()
        self.notes: list[str] = []
        data = self._read()
        lines = [line for line in data.splitlines() if line.strip()]
        self.records = [record for line in lines if (record := _record(line)) is not None]
        if len(self.records) < len(lines) and not only_read:
            self._set_aside(data, len(lines) - len(self.records))

    def add(self, kind: str, **values: Any) -> Record:
        """Add a record. It is on disk when this returns; JournalNotWritten if it cannot be."""
        record = {"kind": kind, **values}
        with self._lock:
            first = [] if self.records else [{"kind": "run", "version": VERSION}]
            records = [*self.records, *first, record]
            self._write(self.path, _encode(records))
            self.records = records
        return record

    def _write(self, path: str, data: bytes) -> None:
        try:
            small_files.put(path, data)
        except OSError as error:
            raise JournalNotWritten(f"{path}: {error.strerror or error}") from error

    def _read(self) -> bytes:
        """The whole file, empty if there is none. JournalNotWritten if it cannot be read: with an
        empty journal all finished work would be done again."""
        try:
            with os.fdopen(places.open_regular(self.path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise JournalNotWritten(f"{self.path}: {error.strerror or error}") from error

    def _set_aside(self, data: bytes, bad: int) -> None:
        names = (f"{self.path}.damaged-{number}" for number in count(1))
        aside = next(name for name in names if not os.path.lexists(name))
        self._write(aside, data)
        self._write(self.path, _encode(self.records))
        self.notes.append(
            f"the journal was damaged: {bad} of its lines could not be read, the rest is used; "
            f"the damaged file is {aside}"
        )


def _encode(records: list[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _record(line: bytes) -> Record | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("kind") not in KINDS:
        return None
    version = value.get("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise NewerJournal(f"the journal of this plan is of version {version}")
    return value


def journal_folder(plan: Path, root: Path) -> str:
    name = digest([os.path.realpath(plan), os.fspath(root.resolve())])
    return f"{places.home()}/runs/{name}"


@contextmanager
def hold_plan(folder: str, patience: float = PATIENCE_SECONDS) -> Iterator[int]:
    """Hold both locks; yields the descriptor of the one that supervisors share."""
    with ExitStack() as stack:
        own, shared = (_open(f"{folder}/{name}", stack) for name in ("conductor", "lock"))
        if not lock.acquire(own):
            raise AlreadyRunning("another process runs this plan already")
        if not lock.acquire(shared, patience):
            raise AlreadyRunning("a session of the last run is still ending")
        yield shared


def _open(path: str, stack: ExitStack) -> int:
    try:
        fd = lock.open_file(path)
    except OSError as error:
        raise JournalNotWritten(f"{path} cannot be written: {error.strerror or error}") from error
    stack.callback(os.close, fd)
    return fd


def is_running(folder: str) -> bool:
    """Whether a runner, or a session of one that is still ending, holds the plan. Never waits."""
    return lock.is_held(f"{folder}/lock")
