"""One runner per plan, and none while sessions of the last one are still ending.

There are two locks, which the system frees however their holder dies. One belongs to the runner
alone (held: another process runs this plan); the other is shared with its supervisors (held: some
of them are still ending their session).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from holdfast.files import lock
from holdfast.run.errors import AlreadyRunning, JournalNotWritten

PATIENCE_SECONDS = 30.0  # longer than a supervisor needs to end its processes


@contextmanager
def hold_plan(folder: str, patience: float = PATIENCE_SECONDS) -> Iterator[int]:
    """Hold both locks; yields the descriptor of the one that supervisors share."""
    with ExitStack() as stack:
        own = _open(folder, "conductor")
        stack.callback(os.close, own)
        shared = _open(folder, "lock")
        stack.callback(os.close, shared)
        if not lock.acquire(own):
            raise AlreadyRunning(f"process {_read_pid(own)} runs this plan already")
        _write_pid(own, folder)
        if not lock.acquire(shared, patience):
            raise AlreadyRunning(f"{folder}/lock is held by another process")
        yield shared


def is_running(folder: str) -> bool:
    """Whether a runner, or a session of one that is still ending, holds the plan. Never waits."""
    return lock.is_held(f"{folder}/lock")


def _write_pid(fd: int, folder: str) -> None:
    """Write our process id into the lock file, for the error text of others."""
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except OSError as slip:
        raise JournalNotWritten(f"{folder}/conductor: {slip.strerror}") from slip


def _read_pid(fd: int) -> str:
    name = os.pread(fd, 20, 0).decode("ascii", "replace")
    return name if name.isdecimal() else "?"


def _open(folder: str, name: str) -> int:
    try:
        return lock.open_file(f"{folder}/{name}")
    except OSError as slip:
        raise JournalNotWritten(
            f"{folder}/{name} cannot be written: {slip.strerror or slip}"
        ) from slip
