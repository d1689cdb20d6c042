"""The user's own status line, run as the client would: bounded in time, in output, in children.

It has a process group of its own, so that ending it ends whatever it started, and nothing else.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

SECONDS = 3.0
MOST_BYTES = 64 << 10


def run(command: str, data: bytes) -> str:
    """What it printed, ending in a newline; slow or broken, it is left out."""
    if not command:
        return ""
    try:
        # A file, not a pipe: a line that never reads its payload must not block us.
        with tempfile.TemporaryFile() as payload:
            payload.write(data)
            payload.seek(0)
            printed = _printed(command, payload)
    except (OSError, ValueError):  # ValueError: a NUL in the command
        return ""
    text = printed.decode("utf-8", "replace").rstrip("\n")
    return text + "\n" if text else ""


def _printed(command: str, payload: IO[bytes]) -> bytes:
    child = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=payload,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert child.stdout is not None
    with child.stdout, _ends_with_us(child.pid):
        until = time.monotonic() + SECONDS
        printed, ended = _read(child.stdout.fileno(), until)
        if not ended:
            _end_group(child.pid)
        _wait(child, until)
    return printed if ended or len(printed) >= MOST_BYTES else b""


def _read(fd: int, until: float) -> tuple[bytes, bool]:
    """All it prints and True; less and False when it is too slow, or prints too much."""
    parts: list[bytes] = []
    room = MOST_BYTES
    while room and select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(fd, room)
        if not part:
            return b"".join(parts), True
        parts.append(part)
        room -= len(part)
    return b"".join(parts), False


def _wait(child: subprocess.Popen[bytes], until: float) -> None:
    """Closing its output is not yet ending."""
    try:
        child.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        _end_group(child.pid)
        child.wait()


def _end_group(group: int) -> None:
    """Before the child is waited for: until then nobody else can have its number."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


@contextmanager
def _ends_with_us(group: int) -> Iterator[None]:
    """The client cancels a status line by a signal, which a group of its own would not get."""

    def end(number: int, _frame: object) -> None:
        _end_group(group)
        os._exit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
