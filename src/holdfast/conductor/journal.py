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

from holdfast.conductor.errors import NewerJournal, NotNoted
from holdfast.wire import places

VERSION = 1
KINDS = frozenset(("run", "started", "ended", "checkpoint"))
MOST_BYTES = 256 << 20
Record = dict[str, Any]


class Journal:
    """Open it under the plan's lock: there is one writer."""

    def __init__(self, folder: str, only_read: bool = False) -> None:
        self.path = f"{folder}/journal.jsonl"
        self._only_read = only_read
        self._lock = threading.Lock()
        self.notes: list[str] = []
        self.records = self._read()

    def add(self, kind: str, **values: Any) -> Record:
        """The record is on the disk when this returns; NotNoted, and nothing of it, if not."""
        record = {"kind": kind, **values}
        with self._lock:
            try:
                if not self.records:
                    self._append({"kind": "run", "version": VERSION})
                self._append(record)
            except OSError as slip:
                raise NotNoted(f"{self.path}: {slip.strerror or slip}") from slip
            self.records.append(record)
        return record

    def _append(self, record: Record) -> None:
        line = json.dumps(record, ensure_ascii=True).encode() + b"\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(fd).st_size
            try:
                if os.write(fd, line) != len(line):
                    raise OSError("the disk is full")
                os.fsync(fd)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(fd, size)
                raise
        finally:
            os.close(fd)

    def _read(self) -> list[Record]:
        data = places.read_small(self.path, MOST_BYTES)
        whole, _, torn = data.rpartition(b"\n")
        if torn and not self._only_read:
            self._cut(len(data) - len(torn))
        lines = [line for line in whole.split(b"\n") if line.strip()]
        found = [_record(line) for line in lines]
        good = [one for one in found if one is not None]
        if len(good) < len(found) and not self._only_read:
            self._set_aside(good, len(found) - len(good))
        return good

    def _cut(self, size: int) -> None:
        try:
            os.truncate(self.path, size)
        except OSError as slip:
            raise NotNoted(f"{self.path}: {slip.strerror}") from slip
        self.notes.append("the journal's last line was torn and is cut off: nothing rested on it")

    def _set_aside(self, good: list[Record], bad: int) -> None:
        aside = _free(f"{self.path}.damaged")
        data = b"".join(json.dumps(one).encode() + b"\n" for one in good)
        try:
            os.link(self.path, aside)  # the old one keeps its name until the new one has it
            places.replace_whole(self.path, data, flush=True)
        except OSError as slip:
            raise NotNoted(f"{self.path} is damaged, and: {slip.strerror}") from slip
        self.notes.append(
            f"the journal was damaged: {bad} of its lines could not be read, the rest goes on; "
            f"set aside: {aside}"
        )


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
