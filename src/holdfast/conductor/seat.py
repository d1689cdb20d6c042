"""One conductor per plan: a lock its supervisors hold as well, so that it is free only once every
Claude of the last one has ended."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.conductor.errors import AnotherRuns, NotNoted
from holdfast.wire import places

PATIENCE_SECONDS = 30.0  # longer than a supervisor takes to end what is left


@contextmanager
def held(folder: str, patience: float = PATIENCE_SECONDS) -> Iterator[int]:
    """The lock's descriptor, to be handed on to supervisors."""
    fd = _opened(folder)
    try:
        _acquire(fd, folder, time.monotonic() + patience)
        _sign(fd, folder)
        yield fd
    finally:
        os.close(fd)


def _acquire(fd: int, folder: str, until: float) -> None:
    """Another that lives is not waited for; one that died leaves supervisors, which soon end."""
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 20, 0)
            if _lives(holder):
                words = f"process {int(holder)} runs this plan already"
                raise AnotherRuns(words) from None
            if time.monotonic() > until:
                raise AnotherRuns(f"{folder}/lock is held by another process") from None
            time.sleep(0.05)


def _sign(fd: int, folder: str) -> None:
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except OSError as slip:
        raise NotNoted(f"{folder}/lock: {slip.strerror}") from slip


def _lives(holder: bytes) -> bool:
    try:
        os.kill(int(holder), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return int(holder) > 0


def _opened(folder: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        fd = os.open(f"{folder}/lock", flags, 0o600)
    except OSError as slip:
        raise NotNoted(f"{folder} cannot be written: {slip.strerror}") from slip
    if not places.is_regular(fd):
        os.close(fd)
        raise NotNoted(f"{folder}/lock is no plain file")
    return fd
