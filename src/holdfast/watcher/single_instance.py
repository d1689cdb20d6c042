"""One watcher per machine: a lock file that names its holder and is freed when that one ends."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from typing import Any

from holdfast.wire import places
from holdfast.wire.errors import HoldfastError


class NoWatcherLock(HoldfastError):
    hint = "make the folder writable, or name another with HOLDFAST_HOME"


def path() -> str:
    return f"{places.home()}/watcher.lock"


class WatcherLock:
    def __init__(self) -> None:
        self._fd = -1

    def take(self, inside: str, now_ms: int) -> bool:
        """True if this process now watches; false while another does."""
        fd = _open()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._fd = fd
        note = {"pid": os.getpid(), "inside": inside, "since_ms": now_ms}
        with suppress(OSError):  # on a full disk it still watches, but cannot say who does
            os.ftruncate(fd, 0)
            os.pwrite(fd, json.dumps(note).encode(), 0)
        return True

    def leave(self) -> None:
        if self._fd >= 0:
            with suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1


def holder() -> dict[str, Any] | None:
    """Which process watches this machine: pid, inside what, since when. None if none does."""
    try:
        fd = os.open(path(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _parse_note(os.pread(fd, 4096, 0))
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def _parse_note(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        value = {}
    return value if isinstance(value, dict) else {}


def _open() -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        os.makedirs(places.home(), mode=0o700, exist_ok=True)  # noqa: PTH103
        fd = os.open(path(), flags, 0o600)
    except OSError as slip:
        raise NoWatcherLock(f"{path()} cannot be opened: {slip}") from slip
    if not places.is_regular(fd):
        os.close(fd)
        raise NoWatcherLock(f"{path()} is not a regular file")
    return fd
