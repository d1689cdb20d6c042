"""Files that only grow, read on from where the last time ended.

A file is known by how it begins: its name goes to another when it is rotated, and its number on the
disk may be given to the next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.wire import places

HEAD_BYTES = 64
CHUNK_BYTES = 1 << 20


def fresh(path: str, told: dict[str, int], most_lines: int) -> tuple[str, int, list[bytes]] | None:
    """(how it begins, place reached, whole lines past the place told); None where there is none.

    A last line that is still being written waits.
    """
    with _opened(path) as fd:
        if fd < 0:
            return None
        head = _head(fd)
        if not head:
            return None
        size = os.fstat(fd).st_size
        start = told.get(head, 0)
        start = start if start <= size else 0
        lines, end = _lines(fd, start, most_lines)
        return head, end, lines


@contextmanager
def _opened(path: str) -> Iterator[int]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        yield -1
        return
    try:
        yield fd if places.is_regular(fd) else -1
    finally:
        os.close(fd)


def _head(fd: int) -> str:
    begins = os.pread(fd, HEAD_BYTES, 0)
    if len(begins) < HEAD_BYTES and b"\n" not in begins:
        return ""
    return begins.partition(b"\n")[0].decode("ascii", "replace")


def _lines(fd: int, start: int, most: int) -> tuple[list[bytes], int]:
    found: list[bytes] = []
    held, end = b"", start
    while len(found) < most and (data := os.pread(fd, CHUNK_BYTES, end + len(held))):
        *whole, held = (held + data).split(b"\n")
        for line in whole[: most - len(found)]:
            end += len(line) + 1
            found.append(line)
        if len(held) > CHUNK_BYTES:  # no line of ours is that long: pass over it
            end, held = end + len(held), b""
    return found, end
