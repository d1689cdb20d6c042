"""What a run has done, line by line, flushed before anything rests on it.

A last line that is torn was never acted on: it is cut off. A line in the middle that cannot be read
is damage: the file is set aside, and what can be read of it goes on in a new one.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from typing import Any

from holdfast.run.errors import NewerJournal, NotNoted
from holdfast.wire import places

VERSION = 1
KINDS = frozenset(("run", "started", "ended", "checkpoint"))
MOST_BYTES = 256 << 20
_PLAINLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link, and no wait for a pipe
Record = dict[str, Any]


class Journal:
    """Open it under the plan's lock: there is one writer. What lies there is what we wrote, or
    somebody took it away meanwhile: then it is written anew."""

    def __init__(self, folder: str, only_read: bool = False) -> None:
        self.path = f"{folder}/journal.jsonl"
        self._only_read = only_read
        self._lock = threading.Lock()
        self.notes: list[str] = []
        self.records = self._read()
        self._left_as = self._stamp()

    def add(self, kind: str, **values: Any) -> Record:
        """The record is on the disk when this returns; NotNoted, and nothing of it, if not."""
        record = {"kind": kind, **values}
        with self._lock:
            new = [record] if self.records else [{"kind": "run", "version": VERSION}, record]
            try:
                if self._stamp() == self._left_as:
                    self._append(_data(new))
                else:
                    self._write_anew([*self.records, *new])
            except OSError as slip:
                raise NotNoted(f"{self.path}: {slip.strerror or slip}") from slip
            self._left_as = self._stamp()
            self.records += new
        return record

    def _stamp(self) -> tuple[int, int] | None:
        """By which it is known again; None: there is none."""
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
                os.fsync(fd)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(fd, size)
                raise
        finally:
            os.close(fd)

    def _write_anew(self, records: list[Record]) -> None:
        os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
        places.replace_whole(self.path, _data(records), flush=True)
        self.notes.append("the journal was changed or taken away meanwhile, and is written anew")

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
        """Whole, or none if there is none; NotNoted where it cannot be read: taken for empty, all
        that is done would be done again."""
        try:
            fd = os.open(self.path, os.O_RDONLY | _PLAINLY)
        except FileNotFoundError:
            return b""
        except OSError as slip:
            raise NotNoted(f"{self.path}: {slip.strerror}") from slip
        try:
            if not places.is_regular(fd):
                raise NotNoted(f"{self.path} is no plain file")
            if os.fstat(fd).st_size > MOST_BYTES:
                raise NotNoted(f"{self.path} is larger than {MOST_BYTES >> 20} MB")
            with open(fd, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(fd)

    def _cut(self, size: int) -> None:
        try:
            os.truncate(self.path, size)
        except OSError as slip:
            raise NotNoted(f"{self.path}: {slip.strerror}") from slip
        self.notes.append("the journal's last line was torn and is cut off: nothing rested on it")

    def _set_aside(self, good: list[Record], bad: int) -> None:
        aside = _free(f"{self.path}.damaged")
        try:
            os.link(self.path, aside)  # the old one keeps its name until the new one has it
            places.replace_whole(self.path, _data(good), flush=True)
        except OSError as slip:
            raise NotNoted(f"{self.path} is damaged, and: {slip.strerror}") from slip
        self.notes.append(
            f"the journal was damaged: {bad} of its lines could not be read, the rest goes on; "
            f"set aside: {aside}"
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


def _free(stem: str) -> str:
    number = 1
    while os.path.lexists(f"{stem}-{number}"):
        number += 1
    return f"{stem}-{number}"
