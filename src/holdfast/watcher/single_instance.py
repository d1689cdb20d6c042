"""One watcher per machine: a lock file that names its holder and is freed when that one ends."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from holdfast.files import lock
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
        if not lock.acquire(fd):
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
    return _parse_note(places.read_small(path(), 4096)) if lock.is_held(path()) else None


def _parse_note(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        value = {}
    return value if isinstance(value, dict) else {}


def _open() -> int:
    try:
        return lock.open_file(path())
    except OSError as error:
        raise NoWatcherLock(f"{path()} cannot be opened: {error}") from error


PLACES = {"alone": "by itself", "mcp": "inside the MCP server", "serve": "inside `holdfast serve`"}


def describe_holder(holder: Mapping[str, object]) -> str:
    """`holder` is what the lock says; a newer Holdfast may name a place we do not know."""
    inside = str(holder.get("inside", "unknown"))
    return f"process {holder.get('pid', 'unknown')}, {PLACES.get(inside, f'inside {inside}')}"
