"""A transcript as a stream of bytes: regular files only, never waited for, gzip or plain."""

import io
import os
import stat
from collections.abc import Iterator
from types import TracebackType
from typing import Self, cast

BUFFER_BYTES = 1 << 18
PIECE_BYTES = 1 << 20  # what is too long to be kept need not be read in long pieces either
NEWLINE = ord("\n")
GZIP_MAGIC = b"\x1f\x8b\x08"


class Unreadable(OSError):
    """There is no transcript to be read at this path."""

    hint = "check the path and its permissions; the client writes the file after its first answer"


class Source:
    """An open transcript; use it in a `with`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.is_damaged = False
        self._file = _regular_file(path)
        self._stream: io.BufferedReader | None = None
        self._damage: tuple[type[Exception], ...] = ()  # what a broken gzip raises

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, slip: BaseException | None, at: TracebackType | None
    ) -> None:
        self._file.close()

    def lines(self, start: int, longest: int) -> Iterator[bytes]:
        """Lines from byte `start` of the text; what is longer than `longest` comes in pieces. Asked
        again, a gzip is not begun anew for what lies further on."""
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
        except OSError as slip:
            raise _unreadable(self.path, slip) from slip

    def _unzipped(self) -> io.BufferedReader:
        if not self._file.peek(3).startswith(GZIP_MAGIC):
            return self._file
        import gzip  # 1 ms, and the client writes none
        import zlib

        self._damage = (EOFError, gzip.BadGzipFile, zlib.error)
        unzipped = gzip.GzipFile(fileobj=self._file)
        return io.BufferedReader(cast(io.RawIOBase, unzipped), BUFFER_BYTES)

    @property
    def disk_bytes(self) -> int:
        """How much of the file on disk has been taken in; for gzip, less than the text."""
        return self._file.tell()


def _regular_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    try:
        # Without O_NONBLOCK, opening a FIFO would wait for a writer, perhaps for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Unreadable(f"cannot read {os.fspath(path)!r}: it is not a regular file")
        return cast(io.BufferedReader, os.fdopen(descriptor, "rb", BUFFER_BYTES))
    except Unreadable:
        raise
    except (OSError, ValueError) as slip:  # ValueError: a NUL inside the path
        raise _unreadable(path, slip) from slip


def _unreadable(path: str | os.PathLike[str], slip: Exception) -> Unreadable:
    reason = slip.strerror if isinstance(slip, OSError) else None
    return Unreadable(f"cannot read {os.fspath(path)!r}: {reason or slip}")
