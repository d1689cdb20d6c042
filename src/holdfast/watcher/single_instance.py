"""One watcher per machine: a lock that ends with its holder, and says who that is."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from typing import Any

from holdfast.wire import places
from holdfast.wire.errors import HoldfastError


class NoSeat(HoldfastError):
    hint = "make the folder writable, or name another with HOLDFAST_HOME"


def path() -> str:
    return f"{places.home()}/watcher.lock"


class Seat:
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
        with suppress(OSError):  # on a full disk it watches all the same, and nobody knows who
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
    """Who watches this machine now: pid, inside what, since when; None: nobody."""
    try:
        fd = os.open(path(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _note(os.pread(fd, 4096, 0))
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def _note(data: bytes) -> dict[str, Any]:
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
        raise NoSeat(f"{path()} cannot be opened: {slip}") from slip
    if not places.is_regular(fd):
        os.close(fd)
        raise NoSeat(f"{path()} is no plain file")
    return fd
