"""The one lock helper: an advisory lock on a file. The system releases it when its holder dies."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.wire import places

if TYPE_CHECKING:
    from holdfast.files.folders import FolderPlace

PATIENCE_SECONDS = 2.0
POLL_SECONDS = 0.005
FOREVER = float("inf")
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def hold(place: FolderPlace, patience: float = PATIENCE_SECONDS) -> Iterator[bool]:
    """Hold a folder's lock for the block. False if it was not free in time, or cannot be locked."""
    try:
        fd = _open_in(place)
    except (OSError, ValueError):
        yield False
        return
    try:
        yield acquire(fd, patience)
    finally:
        os.close(fd)


@contextmanager
def hold_file(path: str, patience: float = PATIENCE_SECONDS) -> Iterator[bool]:
    """Hold the lock of a file for the block. False if it was not free in time."""
    fd = open_file(path)
    try:
        yield acquire(fd, patience)
    finally:
        os.close(fd)


def open_file(path: str) -> int:
    """Open a lock file without waiting, and make its folder. OSError unless it is a plain file."""
    places.make_folder(path.rpartition("/")[0])
    fd = os.open(path, _FLAGS, 0o600)
    if not places.is_regular(fd):
        os.close(fd)
        raise OSError(f"{path} is not a plain file")
    return fd


def acquire(fd: int, patience: float = 0.0, *, shared: bool = False) -> bool:
    """Lock an open file. False if others held it for all these seconds, or it takes no lock."""
    until = time.monotonic() + patience
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    while True:
        try:
            fcntl.flock(fd, how)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(POLL_SECONDS)
        except OSError:
            return False


def is_held(path: str) -> bool:
    """Whether a process holds the lock of this file. Nothing is created, and nothing waits."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False


def hold_environment() -> None:
    """Keep the plugin's environment from being removed while this process, if it is, runs in it."""
    try:
        used = os.open(f"{sys.prefix}/in-use", os.O_RDONLY)
    except OSError:
        return
    fcntl.flock(used, fcntl.LOCK_SH)  # until the process ends
    os.set_inheritable(used, False)


def _open_in(place: FolderPlace) -> int:
    from holdfast.files.folders import enter

    with enter(place) as folder:
        return os.open("lock", _FLAGS, 0o600, dir_fd=folder)
