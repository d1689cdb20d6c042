"""Taking in what hooks left, while the server lives: one process of the machine at a time."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

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
    home = Path(places.home())
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(home / "draining", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return False
    _held.append(fd)
    return True


def _warm() -> None:
    from holdfast.hub.ingest.background import Warm
    from holdfast.mcp import database  # only now: SQLAlchemy costs more than all else here

    Warm(database.store(), "mcp").start()


_held: list[int] = []
