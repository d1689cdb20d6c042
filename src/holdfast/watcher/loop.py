"""The watcher's loop: `run` watches on this thread, `Watcher` on a thread of its own.

    watcher = Watcher(database.open_existing, inside="mcp")
    watcher.start()
    …
    watcher.stop()

Any number of processes may call these. One of them watches and holds a lock file that names it;
the system frees the lock when it ends. The others wait until then, and import
nothing heavy before that (SQLAlchemy alone costs 27 times a bare start).
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.files import lock
from holdfast.settings import load as settings_load
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError, describe


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


if TYPE_CHECKING:
    from holdfast.hub.store.store import Store
    from holdfast.watcher.watch import Watch

WAIT_SECONDS = 5.0  # how often a waiting process tries the lock
LEAST_SECONDS = 0.2
END_SECONDS = 5.0


def now_ms() -> int:
    return int(time.time() * 1000)


class Stop(Protocol):
    """What ends the loop: a `threading.Event`, or an object that a signal handler sets."""

    def is_set(self) -> bool: ...
    def wait(self, seconds: float, /) -> bool: ...


def run(
    stop: Stop,
    store: Store | Callable[[], Store | None] | None = None,
    *,
    inside: str = "alone",
    database: str = "",
    wait_seconds: float = WAIT_SECONDS,
    started: threading.Event | None = None,
    clock: Callable[[], int] = now_ms,
) -> None:
    """Watch until `stop` is set. `started` is set as soon as this process watches.

    `store` is a store, or a function that returns one as soon as there is one; with None a store
    is opened (and created if needed) at `database`.
    """
    lock = WatcherLock()
    while not stop.is_set() and not lock.take(inside, clock()):
        stop.wait(wait_seconds)
    if stop.is_set():
        return lock.leave()
    if started is not None:
        started.set()
    from holdfast.watcher.watch import Watch

    log.add("INFO", "watcher", f"watching ({inside})")
    watch = Watch(store, database)
    try:
        look_repeatedly(stop, watch, clock)
    finally:
        watch.close()
        lock.leave()
        log.add("INFO", "watcher", "ended")


def look_repeatedly(
    stop: Stop,
    watch: Watch,
    clock: Callable[[], int] = now_ms,
    monotonic: Callable[[], float] = time.monotonic,
) -> None:
    """Look once per period. Between looks, save windows that waited for their turn."""
    look_at = monotonic()
    while not stop.is_set():
        is_look = monotonic() >= look_at
        _try_once(watch.look if is_look else watch.save, clock())
        if is_look:
            look_at = monotonic() + settings_load.load().whole("watch_seconds")
        turn_s = watch.next_s()
        left = look_at - monotonic()
        stop.wait(max(LEAST_SECONDS, left if turn_s is None else min(left, turn_s)))


def _try_once(chore: Callable[[int], object], now_ms: int) -> None:
    """Look or save, and log an error: the watcher goes on and tries again the next time."""
    try:
        chore(now_ms)
    except Exception as error:
        log.add("ERROR", "watcher", f"a look failed: {describe(error)}")


class Watcher:
    """Watches on a daemon thread, for a process that does something else as well."""

    def __init__(
        self,
        store: Store | Callable[[], Store | None] | None = None,
        *,
        inside: str = "alone",
        database: str = "",
        wait_seconds: float = WAIT_SECONDS,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._stop = threading.Event()
        self.started = threading.Event()
        self._store, self._inside, self._database = store, inside, database
        self._wait_seconds, self._clock = wait_seconds, clock
        self._thread = threading.Thread(target=self._run, name="holdfast-watcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = END_SECONDS) -> None:
        """End the thread. Work may be cut off: a checkpoint is either complete or absent."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        """Try again when the lock file cannot be made: the disk may be full only for now."""
        last_error = ""
        while True:
            try:
                return self._watch()
            except (HoldfastError, OSError) as error:
                if str(error) != last_error:
                    log.add("ERROR", "watcher", f"not watching: {error}")
                last_error = str(error)
            if self._stop.wait(self._wait_seconds):
                return

    def _watch(self) -> None:
        run(
            self._stop,
            self._store,
            inside=self._inside,
            database=self._database,
            wait_seconds=self._wait_seconds,
            started=self.started,
            clock=self._clock,
        )
