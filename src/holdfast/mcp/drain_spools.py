"""Taking in what hooks left, while the server lives: one process of the machine at a time."""

from __future__ import annotations

import os
import threading

from holdfast.files import lock
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

AGAIN_SECONDS = 60.0


def drain() -> None:
    """In the background: nobody waits for it."""
    threading.Thread(target=_run, name="draining", daemon=True).start()


def _run() -> None:
    pause = threading.Event()
    said = ""
    while True:
        try:
            if _is_ours():
                return _warm()
        except (HoldfastError, OSError) as slip:  # tried again: a database may come back
            if str(slip) != said:
                log.add("WARN", "mcp", f"nothing is taken in: {slip}")
            said = str(slip)
        pause.wait(AGAIN_SECONDS)


def _is_ours() -> bool:
    """The lock ends with the process. Whoever comes second leaves the work to the first."""
    if _held:
        return True
    fd = lock.open_file(f"{places.home()}/draining")
    if not lock.acquire(fd):
        os.close(fd)
        return False
    _held.append(fd)
    return True


def _warm() -> None:
    from holdfast.hub.ingest.background import Warm
    from holdfast.mcp import database  # only now: SQLAlchemy costs more than all else here

    Warm(database.store(), "mcp").start()


_held: list[int] = []
