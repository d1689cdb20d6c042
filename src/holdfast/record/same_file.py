"""Is this the file that was read before, and can what was kept of it be believed?

A transcript only grows. One that was replaced, or has the same name in another folder, differs in
how it begins or in what stands before the place that was reached; then all is read anew.
"""

from __future__ import annotations

import os
from zlib import crc32

from holdfast.record.model import Record
from holdfast.transcript.reader import GZIP_MAGIC
from holdfast.wire import places

HEAD_BYTES, BEFORE_BYTES = 4096, 1024
MOST = 1 << 53
MOST_HEAT = 1e9


def goes_on(record: Record, path: str) -> bool:
    """True when reading may go on from these record."""
    return sane(record) and record.read_from == sign(path, record.offset) != ""


def sign(path: str, offset: int) -> str:
    """The same for a file that only grew; empty where it cannot be read, or ends before that. A
    gzip is the same only as a whole: where its text is reached cannot be told from its bytes."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        size = os.fstat(fd).st_size
        if os.pread(fd, len(GZIP_MAGIC), 0) == GZIP_MAGIC:
            offset = size
        if not places.is_regular(fd) or size < offset:
            return ""
        head = os.pread(fd, min(HEAD_BYTES, offset), 0)
        start = max(0, offset - BEFORE_BYTES)
        return f"{crc32(head):08x}{crc32(os.pread(fd, offset - start, start)):08x}"
    except OSError:
        return ""
    finally:
        os.close(fd)


def sane(record: Record) -> bool:
    """No number a transcript could not have given."""
    counts = (record.offset, record.op, record.since_summary, record.compactions)
    if not all(0 <= number < MOST for number in counts):
        return False
    for known in (record.files, record.names, record.commands, record.references):
        for one in known.values():
            if not (0 <= one.op <= record.op and 0.0 <= one.heat < MOST_HEAT and one.count >= 0):
                return False
    return all(0 <= one.passes < MOST for one in record.failures)
