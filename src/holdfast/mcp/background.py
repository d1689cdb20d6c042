"""What the server does besides answering: it stores what hooks recorded, watches the sessions of
this machine, and makes vectors for recall.

One process of the machine does each of these at a time. The others wait until it ends, and import
nothing for it before.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from holdfast.files import lock
from holdfast.mcp import client_session
from holdfast.mcp.tool_calls import ActiveCalls
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.hub.store.store import Store
    from holdfast.memory.background import Filler
    from holdfast.watcher.loop import Watcher

FIRST_SECONDS = 3.0  # a session that starts needs the machine for itself
END_SECONDS = 0.5
RETRY_SECONDS = 60.0


class BackgroundWork:
    def __init__(self, calls: ActiveCalls) -> None:
        self._calls = calls
        self._stopping = threading.Event()
        self._started = threading.Event()
        self._watcher: Watcher | None = None
        self._filler: Filler | None = None

    def start(self) -> None:
        """Start once, however often the client sends `initialize`."""
        if not self._started.is_set():
            self._started.set()
            threading.Thread(target=self._run, name="holdfast-background", daemon=True).start()

    def stop(self) -> None:
        """End within half a second. Work may be cut off: a write is complete or absent."""
        self._stopping.set()
        ending = threading.Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(END_SECONDS)

    def _run(self) -> None:
        if self._stopping.wait(FIRST_SECONDS):
            return
        from holdfast.memory.background import Filler
        from holdfast.watcher.loop import Watcher

        self._watcher = Watcher(_store, inside="mcp")
        self._filler = Filler(lambda: [client_session.project()], idle=self._calls.idle)
        self._watcher.start()
        drain()
        self._filler.start()

    def _end(self) -> None:
        if self._filler is None or self._watcher is None:
            return
        self._filler.stop(END_SECONDS)
        self._watcher.stop(END_SECONDS)
        from holdfast.memory.index import engines

        engines.release()


def _store() -> Store | None:
    from holdfast.mcp import database  # imported late: it loads SQLAlchemy

    return database.open_existing()


def drain() -> None:
    """Store what hooks recorded, on a thread of its own."""
    threading.Thread(target=_drain, name="draining", daemon=True).start()


def _drain() -> None:
    pause = threading.Event()
    last_error = ""
    while True:
        try:
            if _lock_spools():
                return _start_ingest()
        except (HoldfastError, OSError) as slip:  # try again: the database may come back
            if str(slip) != last_error:
                log.add("WARN", "mcp", f"hook records are not stored: {slip}")
            last_error = str(slip)
        pause.wait(RETRY_SECONDS)


def _lock_spools() -> bool:
    """Take the machine's lock, which ends with this process; false while another process has it."""
    if _held:
        return True
    fd = lock.open_file(f"{places.home()}/draining")
    if not lock.acquire(fd):
        os.close(fd)
        return False
    _held.append(fd)
    return True


def _start_ingest() -> None:
    from holdfast.hub.ingest.background import Warm
    from holdfast.mcp import database  # imported late: SQLAlchemy costs more than the whole server

    Warm(database.store(), "mcp").start()


_held: list[int] = []
