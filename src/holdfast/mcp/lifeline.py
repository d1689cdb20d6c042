"""The client goes, and so do we: whatever a tool is doing, and whoever else holds its pipes."""

from __future__ import annotations

import os
import select
import threading

LOOK_MS = 1000


def hold(parent: int, answers: int) -> None:
    """End this process at once, from now on, when `parent` does or nobody can read `answers`.

    stdin ends with the client too, but not where another of its children has inherited the pipe.
    `parent` is who was there at our very first step: a client that dies before this leaves us with
    another one, which may live for ever.
    """
    wire = os.dup(answers)  # the SDK puts something else in its place
    threading.Thread(target=_watch, args=(parent, wire), name="lifeline", daemon=True).start()


def _watch(parent: int, wire: int) -> None:
    wait_for_end(parent, wire)
    os._exit(0)


def wait_for_end(parent: int, wire: int) -> None:
    """By the kernel's word where it gives one, else by looking every second."""
    waiting = select.poll()
    waiting.register(wire, 0)  # asked for nothing, it still tells that its reader is gone
    try:
        waiting.register(os.pidfd_open(parent), select.POLLIN)
        pause = None
    except (AttributeError, OSError):
        pause = LOOK_MS
    while os.getppid() == parent and not waiting.poll(pause):
        pass
