"""One writer at a time, where that can be had: a checkpoint matters more than its turn."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.files.folders import Place, entered

PATIENCE_SECONDS = 2.0


@contextmanager
def held(place: Place, patience: float = PATIENCE_SECONDS) -> Iterator[bool]:
    """Hold the folder's lock; False when it could not be had. The system frees it if we die."""
    fd = _opened(place)
    try:
        yield fd >= 0 and acquired(fd, time.monotonic() + patience)
    finally:
        if fd >= 0:
            os.close(fd)


def refused(place: Place) -> str:
    """Why the folder takes no lock at all; nothing where somebody else has it."""
    try:
        os.close(_open(place))
    except (OSError, ValueError) as slip:
        return f"{place.path} cannot be written: {getattr(slip, 'strerror', '') or slip}"
    return ""


def _opened(place: Place) -> int:
    try:
        return _open(place)
    except (OSError, ValueError):
        return -1


def _open(place: Place) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with entered(place) as folder:
        return os.open("lock", flags, 0o600, dir_fd=folder)


def acquired(fd: int, until: float) -> bool:
    """Whether the lock of this file was had in time."""
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.005)
        except OSError:
            return False
