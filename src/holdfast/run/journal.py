"""The journal of a run: one line per event, written to disk before anything depends on it.

A torn last line was never acted on, so it is cut off. An unreadable line in the middle is damage:
the file is set aside, and its readable lines continue in a new one.

The journal of a plan lies in a folder named by the paths of the plan and the project, not by the
plan's content, so that an edited plan continues. Two locks beside it allow one runner per plan, and
none while sessions of the last one are still ending.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from holdfast.files import lock
from holdfast.plan.task import digest
from holdfast.run.errors import AlreadyRunning, JournalNotWritten, NewerJournal
from holdfast.wire import places

VERSION = 1
KINDS = frozenset(("run", "started", "ended", "checkpoint"))
MAX_BYTES = 256 << 20
_PLAINLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link, and no wait for a pipe
Record = dict[str, Any]


class Journal:
    """Open it under the plan's lock, so that there is one writer. If somebody changed or removed
    the file meanwhile, it is written again completely."""

    def __init__(self, folder: str, only_read: bool = False) -> None:
        self.path = f"{folder}/journal.jsonl"
        self._only_read = only_read
        self._lock = threading.Lock()
        self.notes: list[str] = []
        self.records = self._read()
        self._left_as = self._stamp()

    def add(self, kind: str, **values: Any) -> Record:
        """Append a record. It is on disk when this returns. After an error (JournalNotWritten)
        nothing of the record is left in the file."""
        record = {"kind": kind, **values}
        with self._lock:
            new = [record] if self.records else [{"kind": "run", "version": VERSION}, record]
            try:
                if self._stamp() == self._left_as:
                    self._append(_data(new))
                else:
                    self._write_all([*self.records, *new])
            except OSError as error:
                raise JournalNotWritten(f"{self.path}: {error.strerror or error}") from error
            self._left_as = self._stamp()
            self.records += new
        return record

    def _stamp(self) -> tuple[int, int] | None:
        """What identifies the file as we left it; None if there is no file."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return None
        return found.st_ino, found.st_size

    def _append(self, data: bytes) -> None:
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _PLAINLY, 0o600)
        try:
            size = os.fstat(fd).st_size
            try:
                if os.write(fd, data) != len(data):
                    raise OSError("the disk is full")
                places.flush_to_disk(fd)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(fd, size)
                raise
        finally:
            os.close(fd)

    def _write_all(self, records: list[Record]) -> None:
        os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
        places.replace_whole(self.path, _data(records), flush=True)
        self.notes.append("the journal was changed or removed meanwhile, and was written again")

    def _read(self) -> list[Record]:
        data = self._bytes()
        whole, _, torn = data.rpartition(b"\n")
        if torn and not self._only_read:
            self._cut(len(data) - len(torn))
        lines = [line for line in whole.split(b"\n") if line.strip()]
        found = [_record(line) for line in lines]
        good = [one for one in found if one is not None]
        if len(good) < len(found) and not self._only_read:
            self._set_aside(good, len(found) - len(good))
        return good

    def _bytes(self) -> bytes:
        """The whole file, empty if there is none. JournalNotWritten if it cannot be read: with an
        empty journal all finished work would be done again."""
        try:
            fd = os.open(self.path, os.O_RDONLY | _PLAINLY)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise JournalNotWritten(f"{self.path}: {error.strerror}") from error
        try:
            if not places.is_regular(fd):
                raise JournalNotWritten(f"{self.path} is not a regular file")
            if os.fstat(fd).st_size > MAX_BYTES:
                raise JournalNotWritten(f"{self.path} is larger than {MAX_BYTES >> 20} MB")
            with open(fd, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(fd)

    def _cut(self, size: int) -> None:
        try:
            os.truncate(self.path, size)
        except OSError as error:
            raise JournalNotWritten(f"{self.path}: {error.strerror}") from error
        self.notes.append(
            "the journal's last line was torn and was cut off: nothing depended on it"
        )

    def _set_aside(self, good: list[Record], bad: int) -> None:
        aside = _free_name(f"{self.path}.damaged")
        try:
            os.link(self.path, aside)  # the old file keeps its name until the new one replaces it
            places.replace_whole(self.path, _data(good), flush=True)
        except OSError as error:
            raise JournalNotWritten(
                f"{self.path} is damaged and cannot be set aside: {error.strerror}"
            ) from error
        self.notes.append(
            f"the journal was damaged: {bad} of its lines could not be read, the rest is used; "
            f"the damaged file is {aside}"
        )


def _data(records: list[Record]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


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


def _free_name(stem: str) -> str:
    number = 1
    while os.path.lexists(f"{stem}-{number}"):
        number += 1
    return f"{stem}-{number}"


def journal_folder(plan: Path, root: Path) -> str:
    name = digest([os.path.realpath(plan), os.fspath(root.resolve())])
    return f"{places.home()}/runs/{name}"


PATIENCE_SECONDS = 30.0  # longer than a supervisor needs to end its processes


@contextmanager
def hold_plan(folder: str, patience: float = PATIENCE_SECONDS) -> Iterator[int]:
    """Hold both locks; yields the descriptor of the one that supervisors share."""
    with ExitStack() as stack:
        own = _open(folder, "conductor")
        stack.callback(os.close, own)
        shared = _open(folder, "lock")
        stack.callback(os.close, shared)
        if not lock.acquire(own):
            raise AlreadyRunning(f"process {_read_pid(own)} runs this plan already")
        _write_pid(own, folder)
        if not lock.acquire(shared, patience):
            raise AlreadyRunning(f"{folder}/lock is held by another process")
        yield shared


def is_running(folder: str) -> bool:
    """Whether a runner, or a session of one that is still ending, holds the plan. Never waits."""
    return lock.is_held(f"{folder}/lock")


def _write_pid(fd: int, folder: str) -> None:
    """Write our process id into the lock file, for the error text of others."""
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except OSError as error:
        raise JournalNotWritten(f"{folder}/conductor: {error.strerror}") from error


def _read_pid(fd: int) -> str:
    name = os.pread(fd, 20, 0).decode("ascii", "replace")
    return name if name.isdecimal() else "?"


def _open(folder: str, name: str) -> int:
    try:
        return lock.open_file(f"{folder}/{name}")
    except OSError as error:
        raise JournalNotWritten(
            f"{folder}/{name} cannot be written: {error.strerror or error}"
        ) from error
