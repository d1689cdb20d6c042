"""The record as it is stored beside its window (`record.json`), and continued from there.

A restore finds nothing new in the transcript, because Claude Code writes the boundary and the
summary after it. So the modules that read a transcript are imported only if there is something to
read; importing them takes as long as half an interpreter start.

A transcript only grows. If it was replaced, or another folder has one of the same name, its
beginning or the bytes before the stored offset differ; then it is read from the start.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from zlib import crc32

from holdfast.record import model
from holdfast.record.model import Record
from holdfast.transcript import GZIP_MAGIC, ZSTD_MAGIC
from holdfast.window.state import State
from holdfast.wire import log, places

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 32 << 20
HEAD_BYTES, BEFORE_BYTES = 4096, 1024
MOST = 1 << 53


def read_on(state: State, folder: str, is_late: Callable[[], bool] | None = None) -> Record:
    """Return the record of the transcript, continued from where the last reading ended. A hook may
    be late: what it read until then is saved, and `unread` says how much is missing."""
    before = model.load(places.read_small(f"{folder}/record.json", MOST_BYTES))
    if before is not None and not goes_on(before, before.read_from, state.transcript):
        before = None
    if before is not None and 0 < before.offset == places.size_of(state.transcript):
        return before  # there is nothing new to read
    from holdfast.record.reader import RecordReader

    # Secrets are removed first, so that no quotation cuts one in two.
    reader = RecordReader(before, sidechain=bool(state.agent_id))
    record = reader.read_redacted(state.transcript, is_late=is_late)
    record.read_from = sign(state.transcript, record.offset)
    save(folder, record)
    if reader.is_stopped:
        record.unread = max(1, places.size_of(state.transcript) - record.offset)
    return record


def save(folder: str, record: Record) -> None:
    try:
        places.make_folder(folder)  # a session without hooks has none
        places.replace_whole(f"{folder}/record.json", model.save(record))
    except OSError as error:
        log.add("WARN", "facts", f"not remembered: {error}")


def goes_on(record: Record, read_from: str, path: str) -> bool:
    """Whether reading may go on from this record, and not of another file of the name."""
    return record.offset >= 0 and read_from == sign(path, record.offset) != ""


def sign(path: str, offset: int) -> str:
    """Return a signature that stays the same while a file only grows; empty if it cannot be read or
    is shorter. A gzip file is signed as a whole: offsets are those of its text."""
    try:
        fd = places.open_regular(path)
    except (OSError, ValueError):
        return ""
    try:
        size = os.fstat(fd).st_size
        if os.pread(fd, len(ZSTD_MAGIC), 0).startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            offset = size
        if size < offset:
            return ""
        head = os.pread(fd, min(HEAD_BYTES, offset), 0)
        start = max(0, offset - BEFORE_BYTES)
        return f"{crc32(head):08x}{crc32(os.pread(fd, offset - start, start)):08x}"
    except OSError:
        return ""
    finally:
        os.close(fd)
