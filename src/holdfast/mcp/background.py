"""What the server does beside answering, once the session has begun: it takes in what hooks left,
watches the sessions of this machine, and makes vectors for recall.

Each of these is done by one process of the machine at a time; whoever comes second waits for the
first one's end, and loads nothing for it before.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from holdfast.mcp import client_session
from holdfast.mcp.active_calls import Calls
from holdfast.mcp.drain_spools import drain

if TYPE_CHECKING:
    from holdfast.hub.store.store import Store
    from holdfast.memory.background import Filler
    from holdfast.watcher.loop import Watcher

FIRST_SECONDS = 3.0  # a session that begins has better use for the machine
END_SECONDS = 0.5


class Beside:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._over = threading.Event()
        self._begun = threading.Event()
        self._watcher: Watcher | None = None
        self._filler: Filler | None = None

    def start(self) -> None:
        """Once, however often the client greets."""
        if not self._begun.is_set():
            self._begun.set()
            threading.Thread(target=self._run, name="holdfast-beside", daemon=True).start()

    def stop(self) -> None:
        """Bounded: what is under way may be cut off, for it is whole or not there."""
        self._over.set()
        ending = threading.Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(END_SECONDS)

    def _run(self) -> None:
        if self._over.wait(FIRST_SECONDS):
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
    from holdfast.mcp import database  # only now: it loads SQLAlchemy

    return database.if_there()
