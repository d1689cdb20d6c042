"""Read a transcript from a byte offset to its end, in memory that does not grow with it.

The file may be plain, gzip or Zstandard. It must be a regular file, so that opening it never waits.
"""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any, Self, cast

import msgspec

from holdfast.transcript import GZIP_MAGIC, ZSTD_MAGIC, Unreadable
from holdfast.transcript.blocks import Malformed, attempt, end_of_torn, may_hold_words
from holdfast.transcript.entries import Entry
from holdfast.transcript.parse import LineTally, parse
from holdfast.wire import places, tail

BUFFER_BYTES = 1 << 18
OPENING_BYTES = 1 << 14  # where mostly the first line is all that is asked for
PIECE_BYTES = 1 << 20  # what is too long to be kept need not be read in long pieces either
NEWLINE = ord("\n")
LONGEST_LINE_BYTES = 64 << 20
SHORTEST_LINE_BYTES = len(b'{"a":1}\n')  # no shorter line says anything

# A session opens with lines that belong to no conversation: titles of others by the hundred.
MOST_LINES = 5000


class TranscriptSource:
    """An open transcript; use it in a `with`."""

    def __init__(self, path: str | os.PathLike[str], buffer_bytes: int = BUFFER_BYTES) -> None:
        self.path = path
        self.is_damaged = False
        self._file = _regular_file(path, buffer_bytes)
        self._stream: io.BufferedReader | None = None
        self._damage: tuple[type[Exception], ...] = ()  # what a broken gzip raises

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._file.close()

    def lines(self, start: int, longest: int) -> Iterator[bytes]:
        """Yield lines from byte `start` of the text; a line longer than `longest` comes in
        pieces. A second call continues in a gzip file instead of starting again, if it can."""
        try:
            stream = self._stream = self._stream or self._unzipped()
            stream.seek(start)  # past the end there is simply nothing to read
            limit = longest
            while data := stream.readline(limit):
                yield data
                if data[-1] == NEWLINE:
                    limit = longest
                elif len(data) == limit:
                    limit = PIECE_BYTES
                else:
                    return  # the end; what is written from now on is for the next time
        except self._damage:  # it is content, not a missing file: what came before it stands
            self.is_damaged = True
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def _unzipped(self) -> io.BufferedReader:
        head = self._file.peek(4)
        if head.startswith(ZSTD_MAGIC):
            return self._unpacked()
        if not head.startswith(GZIP_MAGIC):
            return self._file
        import gzip  # 1 ms, and the client writes none
        import zlib

        self._damage = (EOFError, gzip.BadGzipFile, zlib.error)
        unzipped = gzip.GzipFile(fileobj=self._file)
        return io.BufferedReader(cast(io.RawIOBase, unzipped), BUFFER_BYTES)

    def _unpacked(self) -> io.BufferedReader:
        try:
            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
        except ImportError as error:  # a plugin whose environment is not built
            raise Unreadable(f"{os.fspath(self.path)!r} needs {error.name}") from error
        self._damage = (EOFError, zstd.ZstdError)
        return io.BufferedReader(cast(io.RawIOBase, zstd.ZstdFile(self._file)), BUFFER_BYTES)


def _regular_file(path: str | os.PathLike[str], buffer_bytes: int) -> io.BufferedReader:
    try:
        return cast(io.BufferedReader, os.fdopen(places.open_regular(path), "rb", buffer_bytes))
    except (OSError, ValueError) as error:  # ValueError: a NUL inside the path
        raise _unreadable(path, error) from error


def _unreadable(path: str | os.PathLike[str], error: Exception) -> Unreadable:
    reason = error.strerror if isinstance(error, OSError) else None
    return Unreadable(f"cannot read {os.fspath(path)!r}: {reason or error}")


LineParser = Callable[[bytes, int, LineTally], Iterable[Entry]]


def parse_line(data: bytes, offset: int, tally: LineTally) -> Iterable[Entry]:
    entry = parse(data, offset, tally)
    return () if entry is None else (entry,)


def parser_for(path: str | os.PathLike[str], start: int = 0) -> LineParser:
    """What reads the lines of this file, by the agent that wrote it. The lines of another agent
    are translated, then read like those of Claude Code."""
    translator = tail.translator_for(os.fspath(path))
    if translator is None:
        return parse_line
    with suppress(OSError, ValueError), TranscriptSource(path, OPENING_BYTES) as source:
        if start:  # the first line names the session
            translator.lines(_decode_row(next(source.lines(0, LONGEST_LINE_BYTES), b"")), 0)
    return partial(_parse_translated, translator)


def _parse_translated(
    translator: "tail.Translator", data: bytes, offset: int, tally: LineTally
) -> list[Entry]:
    row = _decode_row(data)
    lines = translator.lines(row, offset)
    if not lines:
        tally.add_type(str(row.get("type") or ""))
    entries = (parse(msgspec.json.encode(line), offset, tally) for line in lines)
    return [entry for entry in entries if entry is not None]


def _decode_row(data: bytes) -> dict[str, Any]:
    row = attempt(msgspec.json.Decoder(dict[str, Any]).decode, data)
    if row is None:
        raise Malformed
    return row


class Reader:
    """A place in a transcript.

    Iterating reads on from `offset`, which is always the start of a line not yet handed out;
    iterating again later reads what was written since. A line still being written waits.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, start: int = 0, tally: LineTally | None = None
    ) -> None:
        self.path = path
        self.offset = start
        self.tally = LineTally() if tally is None else tally
        self._parser = parser_for(path, start)

    def __iter__(self) -> Iterator[Entry]:
        self.tally.torn_tail = False
        with TranscriptSource(self.path) as source:
            lines = source.lines(self.offset, LONGEST_LINE_BYTES)
            for data in lines:
                yield from self._entries(data, lines)
            self.tally.torn_tail |= source.is_damaged

    def _entries(self, data: bytes, lines: Iterator[bytes]) -> Iterable[Entry]:
        offset = self.offset
        self.offset = offset + len(data)
        if len(data) == LONGEST_LINE_BYTES:
            self._skip_rest(offset, lines)
            return ()
        if len(data) < SHORTEST_LINE_BYTES and data[-1] == NEWLINE:
            self.tally.malformed += not data.isspace()  # a million such lines took 17 s to parse
            return ()
        try:
            return self._parser(data, offset, self.tally)
        except Malformed:
            if data.endswith(b"\n") or data.isspace():
                return behind_torn(data, offset, self.tally)
        self._leave_for_later(offset)
        return ()

    def _skip_rest(self, offset: int, lines: Iterator[bytes]) -> None:
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


def behind_torn(data: bytes, offset: int, tally: LineTally) -> Iterable[Entry]:
    """The entry of a complete line that was written behind a torn one."""
    if data.isspace():
        return ()
    tally.malformed += 1
    start = end_of_torn(data)
    tally.words_lost += may_hold_words(data[: start or None])
    with suppress(Malformed):
        return parse_line(data[start:], offset + start, tally) if start else ()
    return ()


def read(
    path: str | os.PathLike[str], *, start: int = 0, tally: LineTally | None = None
) -> Iterator[Entry]:
    """Every entry from byte `start`, the start of a line, to the end.

    Raises Unreadable when there is no file to read, and nothing for what is in it.
    """
    return iter(Reader(path, start=start, tally=tally))


def read_at(path: str | os.PathLike[str], offsets: Iterable[int]) -> Iterator[Entry]:
    """Return the entries that begin at these bytes, in order, in one pass."""
    with TranscriptSource(path) as source:
        for offset in sorted(offsets):
            data = next(source.lines(offset, LONGEST_LINE_BYTES), b"")
            with suppress(Malformed):
                yield from parser_for(path, offset)(data, offset, LineTally())


class _Opening(msgspec.Struct, rename="camel"):
    parent_uuid: str | msgspec.UnsetType | None = msgspec.UNSET
    subtype: str | None = None
    is_sidechain: bool = False


def begins_midway(path: str | os.PathLike[str]) -> bool:
    """Whether the first line of the conversation follows a line that this file does not hold.
    Old clients wrote subagents' lines in between; a subagent's own file has no others."""
    first: _Opening | None = None
    with suppress(OSError, ValueError), TranscriptSource(path, OPENING_BYTES) as source:
        for line in islice(source.lines(0, LONGEST_LINE_BYTES), MOST_LINES):
            opening = _decode_opening(line)
            if opening and opening.parent_uuid is not msgspec.UNSET:
                first = first or opening
                if not opening.is_sidechain:
                    return _follows(opening)
    return first is not None and _follows(first)


def _follows(opening: _Opening) -> bool:
    return opening.parent_uuid is not None or opening.subtype == "compact_boundary"


def _decode_opening(line: bytes) -> _Opening | None:
    try:
        return msgspec.json.decode(line, type=_Opening)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
