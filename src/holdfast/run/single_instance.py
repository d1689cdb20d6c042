"""One conductor per plan, and none beside Claudes of the last one.

Two locks, which the system takes back whatever their holder dies of: one is the conductor's alone
(held: another runs this plan), one its supervisors hold as well (held: some still end theirs).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from holdfast.files import lock
from holdfast.run.errors import AnotherRuns, NotNoted

PATIENCE_SECONDS = 30.0  # longer than a supervisor takes to end what is left


@contextmanager
def held(folder: str, patience: float = PATIENCE_SECONDS) -> Iterator[int]:
    """The descriptor of the lock that is to be handed on to supervisors."""
    with ExitStack() as stack:
        own = _opened(folder, "conductor")
        stack.callback(os.close, own)
        shared = _opened(folder, "lock")
        stack.callback(os.close, shared)
        if not lock.acquire(own):
            raise AnotherRuns(f"process {_signed(own)} runs this plan already")
        _sign(own, folder)
        if not lock.acquire(shared, patience):
            raise AnotherRuns(f"{folder}/lock is held by another process")
        yield shared


def is_taken(folder: str) -> bool:
    """By a conductor, or by a Claude of one that is still ending; nothing is waited for or made."""
    return lock.is_held(f"{folder}/lock")


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
    try:
        return lock.open_file(f"{folder}/{name}")
    except OSError as slip:
        raise NotNoted(f"{folder}/{name} cannot be written: {slip.strerror or slip}") from slip
