"""The end of a transcript for a process that asks again and again: only what is new is read.

Parsing the last 4 MB takes some 60 ms, and a session grows by a few KB between two questions.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator

from holdfast.transcript.entries import Entry
from holdfast.transcript.reader import Reader

MOST_FILES = 8


class _Followed:
    __slots__ = ("entries", "inode", "offset", "start")

    def __init__(self, inode: int, start: int) -> None:
        self.inode, self.start, self.offset = inode, start, start
        self.entries: list[Entry] = []


class Following:
    def __init__(self) -> None:
        self._known: OrderedDict[str, _Followed] = OrderedDict()
        self._lock = threading.Lock()

    def entries(self, path: str, start: int) -> Iterator[Entry]:
        """Those from byte `start` on, as reading from there would give them."""
        with self._lock:
            known = self._of(path, start)
            reader = Reader(path, start=known.offset)
            known.entries += reader
            known.offset = reader.offset
            known.entries = [one for one in known.entries if one.offset >= start]
            known.start = start
            return iter(tuple(known.entries))

    def _of(self, path: str, start: int) -> _Followed:
        """What is known of the very same file; a transcript only grows, so a shorter one is new,
        and so is one that is asked for from further ahead."""
        found, now = self._known.pop(path, None), os.stat(path)  # noqa: PTH116
        if (
            found is None
            or found.inode != now.st_ino
            or not (found.start <= start <= found.offset <= now.st_size)
        ):
            found = _Followed(now.st_ino, start)
        self._known[path] = found
        while len(self._known) > MOST_FILES:
            self._known.popitem(last=False)
        return found
