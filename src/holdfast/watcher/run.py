"""Watching until told to stop: `run` in this thread, `Watcher` in one of its own.

    watcher = Watcher(database.if_there, inside="mcp")
    watcher.start()
    …
    watcher.stop()

Any number of processes may do so: one watches, the others wait for its end, and load nothing for it
before (SQLAlchemy alone is 27 times a bare start).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from holdfast.settings import load as settings_load
from holdfast.watcher.single_instance import Seat
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.hub.store.store import Store
    from holdfast.watcher.watch import Watch

WAIT_SECONDS = 5.0  # how often one that waits asks whether the place is free
LEAST_SECONDS = 0.2
END_SECONDS = 5.0


class Stop(Protocol):
    """A `threading.Event`, or what a signal sets."""

    def is_set(self) -> bool: ...
    def wait(self, seconds: float, /) -> bool: ...


def run(
    stop: Stop,
    store: Store | Callable[[], Store | None] | None = None,
    *,
    inside: str = "alone",
    database: str = "",
    wait_seconds: float = WAIT_SECONDS,
    seated: threading.Event | None = None,
) -> None:
    """Until `stop` is set. `seated` is set once this one watches. `store` may be a function that
    gives one as soon as there is one; None: one is opened, or made, at `database`."""
    seat = Seat()
    while not stop.is_set() and not seat.take(inside, _now_ms()):
        stop.wait(wait_seconds)
    if stop.is_set():
        return seat.leave()
    if seated is not None:
        seated.set()
    from holdfast.watcher.watch import Watch

    log.add("INFO", "watcher", f"watching ({inside})")
    watch = Watch(store, database)
    try:
        _until(stop, watch)
    finally:
        watch.close()
        seat.leave()
        log.add("INFO", "watcher", "ended")


def _until(stop: Stop, watch: Watch) -> None:
    """Every period a look, and between looks the turn of whoever waits for one."""
    look_at = time.monotonic()
    while not stop.is_set():
        is_look = time.monotonic() >= look_at
        _tried(watch, is_look=is_look)
        if is_look:
            look_at = time.monotonic() + settings_load.load().whole("watch_seconds")
        turn_s = watch.next_s()
        left = look_at - time.monotonic()
        stop.wait(max(LEAST_SECONDS, left if turn_s is None else min(left, turn_s)))


def _tried(watch: Watch, *, is_look: bool) -> None:
    """A look that fails is tried again at the next one; a watcher does not end by itself."""
    try:
        if is_look:
            watch.look(_now_ms())
        else:
            watch.save(_now_ms())
    except Exception as slip:
        log.add("ERROR", "watcher", f"a look failed: {slip!r}")


def _now_ms() -> int:
    return int(time.time() * 1000)


class Watcher:
    """On a thread of its own, for a process that does something else as well."""

    def __init__(
        self,
        store: Store | Callable[[], Store | None] | None = None,
        *,
        inside: str = "alone",
        database: str = "",
    ) -> None:
        self._stop = threading.Event()
        self.seated = threading.Event()
        self._given = (store, inside, database)
        self._thread = threading.Thread(target=self._run, name="holdfast-watcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = END_SECONDS) -> None:
        """What is under way may be cut off: a checkpoint is whole or not there."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        """A place that cannot be had now (no room, no permission) may be had later."""
        said = ""
        while True:
            try:
                return self._watch()
            except (HoldfastError, OSError) as slip:
                if str(slip) != said:
                    log.add("ERROR", "watcher", f"not watching: {slip}")
                said = str(slip)
            if self._stop.wait(WAIT_SECONDS):
                return

    def _watch(self) -> None:
        store, inside, database = self._given
        run(self._stop, store, inside=inside, database=database, seated=self.seated)
