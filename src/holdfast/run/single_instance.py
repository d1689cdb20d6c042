"""One conductor per plan, and none beside Claudes of the last one.

Two locks, which the system takes back whatever their holder dies of: one is the conductor's alone
(held: another runs this plan), one its supervisors hold as well (held: some still end theirs).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from holdfast.files.lock import acquired
from holdfast.run.errors import AnotherRuns, NotNoted
from holdfast.wire import places

PATIENCE_SECONDS = 30.0  # longer than a supervisor takes to end what is left


@contextmanager
def held(folder: str, patience: float = PATIENCE_SECONDS) -> Iterator[int]:
    """The descriptor of the lock that is to be handed on to supervisors."""
    with ExitStack() as stack:
        own = _opened(folder, "conductor")
        stack.callback(os.close, own)
        shared = _opened(folder, "lock")
        stack.callback(os.close, shared)
        if not acquired(own, 0):
            raise AnotherRuns(f"process {_signed(own)} runs this plan already")
        _sign(own, folder)
        if not acquired(shared, time.monotonic() + patience):
            raise AnotherRuns(f"{folder}/lock is held by another process")
        yield shared


def is_taken(folder: str) -> bool:
    """By a conductor, or by a Claude of one that is still ending; nothing is waited for or made."""
    try:
        fd = os.open(f"{folder}/lock", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _sign(fd: int, folder: str) -> None:
    """For the words alone: who it is that runs."""
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except OSError as slip:
        raise NotNoted(f"{folder}/conductor: {slip.strerror}") from slip


def _signed(fd: int) -> str:
    name = os.pread(fd, 20, 0).decode("ascii", "replace")
    return name if name.isdecimal() else "?"


def _opened(folder: str, name: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        fd = os.open(f"{folder}/{name}", flags, 0o600)
    except OSError as slip:
        raise NotNoted(f"{folder}/{name} cannot be written: {slip.strerror}") from slip
    if not places.is_regular(fd):
        os.close(fd)
        raise NotNoted(f"{folder}/{name} is no plain file")
    return fd
