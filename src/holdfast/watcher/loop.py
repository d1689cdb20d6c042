"""The watcher's loop: `run` watches on this thread, `Watcher` on a thread of its own.

Any number of processes may call these. One of them watches and holds a lock file that names it;
the system frees the lock when it ends. The others wait until then, and import nothing heavy before
that (SQLAlchemy alone costs 27 times a bare start).
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.files import lock
from holdfast.settings import load as settings_load
from holdfast.wire import log, places, scan
from holdfast.wire.errors import HoldfastError, describe

if TYPE_CHECKING:
    from holdfast.watcher.board import StoreFinder
    from holdfast.watcher.watch import Watch

WAIT_SECONDS = 5.0  # how often a waiting process tries the lock
LEAST_SECONDS = 0.2
END_SECONDS = 5.0


LOCK_HINT = "make the folder writable, or name another with HOLDFAST_HOME"


def path() -> str:
    return f"{places.home()}/watcher.lock"


def take_lock(inside: str, now_ms: int) -> int | None:
    """The open lock file if this process now watches; None while another does."""
    try:
        fd = lock.open_file(path())
    except OSError as error:
        raise HoldfastError(f"{path()} cannot be opened: {error}", LOCK_HINT) from error
    if not lock.acquire(fd):
        os.close(fd)
        return None
    note = {"pid": os.getpid(), "inside": inside, "since_ms": now_ms}
    with suppress(OSError):  # on a full disk it still watches, but cannot say who does
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(note).encode(), 0)
    return fd


def holder() -> dict[str, Any] | None:
    """Which process watches this machine: pid, inside what, since when. None if none does."""
    return scan.parse_object(places.read_small(path(), 4096)) if lock.is_held(path()) else None


def describe_holder(holder: Mapping[str, object]) -> str:
    inside = holder.get("inside", "unknown")
    where = "by itself" if inside == "alone" else f"inside {inside}"
    return f"process {holder.get('pid', 'unknown')}, {where}"


def now_ms() -> int:
    return int(time.time() * 1000)


class Stop(Protocol):
    """What ends the loop: a `threading.Event`, or an object that a signal handler sets."""

    def is_set(self) -> bool: ...
    def wait(self, seconds: float, /) -> bool: ...


def run(
    stop: Stop,
    find_store: StoreFinder,
    *,
    inside: str = "alone",
    wait_seconds: float = WAIT_SECONDS,
    tell_started: Callable[[], object] = lambda: None,
    clock: Callable[[], int] = now_ms,
) -> None:
    """Watch until `stop` is set; `tell_started` is called once this process watches."""
    held = None
    while not stop.is_set() and (held := take_lock(inside, clock())) is None:
        stop.wait(wait_seconds)
    if held is None:
        return
    try:
        tell_started()
        # Whole, and first: two threads that import parts of it at the same time both fail.
        import sqlalchemy  # noqa: F401

        from holdfast.watcher.watch import Watch

        log.add("INFO", "watcher", f"watching ({inside})")
        _look_repeatedly(stop, Watch(find_store), clock)
    finally:
        with suppress(OSError):
            os.ftruncate(held, 0)
        os.close(held)
        log.add("INFO", "watcher", "ended")


def _look_repeatedly(stop: Stop, watch: Watch, clock: Callable[[], int]) -> None:
    """Look once per period. Between looks, save windows that waited for their turn."""
    look_at = time.monotonic()
    while not stop.is_set():
        is_look = time.monotonic() >= look_at
        try:
            (watch.look if is_look else watch.save)(clock())
        except Exception as error:  # the watcher goes on and tries again the next time
            log.add("ERROR", "watcher", f"a look failed: {describe(error)}")
        if is_look:
            look_at = time.monotonic() + settings_load.load().whole("watch_seconds")
        turn_s = watch.next_s()
        left = look_at - time.monotonic()
        stop.wait(max(LEAST_SECONDS, left if turn_s is None else min(left, turn_s)))


class Watcher:
    """Watches on a daemon thread, for a process that does something else as well."""

    def __init__(
        self,
        find_store: StoreFinder,
        *,
        inside: str,
        wait_seconds: float = WAIT_SECONDS,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._stop, self.started = threading.Event(), threading.Event()
        self._wait_seconds = wait_seconds
        watch = partial(run, self._stop, find_store, tell_started=self.started.set, clock=clock)
        self._watch = partial(watch, inside=inside, wait_seconds=wait_seconds)
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
        while not self._stop.is_set():
            try:
                return self._watch()
            except (HoldfastError, OSError) as error:
                if str(error) != last_error:
                    log.add("ERROR", "watcher", f"not watching: {error}")
                last_error = str(error)
            self._stop.wait(self._wait_seconds)
