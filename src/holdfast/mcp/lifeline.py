"""The client goes, and so do we: whatever a tool is doing, and whoever else holds its pipes."""

from __future__ import annotations

import os
import select
import threading

LOOK_SECONDS = 1.0


def hold() -> None:
    """End this process with the one that started it, at once, from now on.

    stdin ends with the client too, but not where another of its children has inherited the pipe.
    """
    parent = os.getppid()
    threading.Thread(target=_watch, args=(parent,), name="lifeline", daemon=True).start()


def _watch(parent: int) -> None:
    _wait_for_end(parent)
    os._exit(0)


def _wait_for_end(parent: int) -> None:
    """By the kernel's word where it gives one, else by looking every second."""
    try:
        fd = os.pidfd_open(parent)
    except (AttributeError, OSError):
        fd = -1
    if fd >= 0 and os.getppid() == parent:
        select.select([fd], [], [])
        return
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(LOOK_SECONDS)
