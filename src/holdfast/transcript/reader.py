"""Reading a transcript from a byte offset to its end, in memory that does not grow with it."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from holdfast.transcript.entries import Entry
from holdfast.transcript.parse import parse
from holdfast.transcript.repair import Malformed, end_of_torn, may_hold_words
from holdfast.transcript.source import Source
from holdfast.transcript.tally import Tally

LONGEST_LINE_BYTES = 64 << 20
REPORT_EVERY_BYTES = 1 << 20

OnBytes = Callable[[int], object]


class Reader:
    """A place in a transcript.

    Iterating reads on from `offset`, which is always the start of a line not yet handed out;
    iterating again later reads what was written since. A line still being written waits.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        start: int = 0,
        tally: Tally | None = None,
        on_bytes: OnBytes | None = None,
    ) -> None:
        self.path = path
        self.offset = start
        self.tally = Tally() if tally is None else tally
        self._on_bytes = on_bytes

    def __iter__(self) -> Iterator[Entry]:
        self.tally.torn_tail = False
        report_at = self.offset + REPORT_EVERY_BYTES
        with Source(self.path) as source:
            lines = source.lines(self.offset, LONGEST_LINE_BYTES)
            for data in lines:
                entry = self._entry(data, lines)
                if self.offset >= report_at:
                    report_at = self.offset + REPORT_EVERY_BYTES
                    self._report(source)
                if entry is not None:
                    yield entry
            self.tally.torn_tail |= source.is_damaged
            self._report(source)

    def _entry(self, data: bytes, lines: Iterator[bytes]) -> Entry | None:
        offset = self.offset
        self.offset = offset + len(data)
        if len(data) == LONGEST_LINE_BYTES:
            self._skip_rest(offset, lines)
            return None
        try:
            return parse(data, offset, self.tally)
        except Malformed:
            if data.endswith(b"\n") or data.isspace():
                return behind_torn(data, offset, self.tally)
        self._leave_for_later(offset)
        return None

    def _skip_rest(self, offset: int, lines: Iterator[bytes]) -> None:
        """Of a line too long to hold, let the remaining pieces go by."""
        for data in lines:
            self.offset += len(data)
            if data.endswith(b"\n"):
                self.tally.oversized += 1
                self.tally.words_lost += 1
                return
        self._leave_for_later(offset)

    def _leave_for_later(self, offset: int) -> None:
        """The last line has no end: it is still being written, or was never finished."""
        self.tally.torn_tail = True
        self.offset = offset

    def _report(self, source: Source) -> None:
        if self._on_bytes is not None:
            self._on_bytes(source.disk_bytes)


def behind_torn(data: bytes, offset: int, tally: Tally) -> Entry | None:
    """Of a line that does not parse, the whole line that was written behind a torn one."""
    if data.isspace():
        return None
    tally.malformed += 1
    start = end_of_torn(data)
    tally.words_lost += may_hold_words(data[: start or None])
    with suppress(Malformed):
        return parse(data[start:], offset + start, tally) if start else None
    return None


def read(
    path: str | os.PathLike[str],
    *,
    start: int = 0,
    tally: Tally | None = None,
    on_bytes: OnBytes | None = None,
) -> Iterator[Entry]:
    """Every entry from byte `start`, the start of a line, to the end.

    Raises Unreadable when there is no file to read, and nothing for what is in it. `on_bytes` is
    told now and then how many bytes of the file have been taken in, for a progress bar.
    """
    return iter(Reader(path, start=start, tally=tally, on_bytes=on_bytes))


def read_at(path: str | os.PathLike[str], offsets: Iterable[int]) -> Iterator[Entry]:
    """The entries that begin at these bytes, first to last, in one going through."""
    with Source(path) as source:
        for offset in sorted(offsets):
            data = next(source.lines(offset, LONGEST_LINE_BYTES), b"")
            with suppress(Malformed):
                entry = parse(data, offset, Tally())
                if entry is not None:
                    yield entry
