"""A file without a name, to give a program its input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


@contextmanager
def unnamed_file(data: bytes) -> Iterator[IO[bytes]]:
    """Open a file with this content, at its beginning. A pipe would block whoever fills it until
    the program reads.

    On Linux it is in memory. `tempfile` first tries out the folder for temporary files with a file
    of its own, and a process that is killed at this moment leaves that file behind.
    """
    with _open() as file:
        file.write(data)
        file.seek(0)
        yield file


def _open() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("holdfast"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()
