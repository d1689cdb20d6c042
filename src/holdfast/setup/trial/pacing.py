"""An API that answers no sooner than a thinking model would: once the client's hooks have ended.

A real answer takes seconds, so a hook of the round before is always over by then; a scripted one
takes a millisecond, and what an asynchronous hook says would come one to three rounds late (seen).
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from pathlib import Path


class Patience:
    """Call it before an answer: waits for the client's own short-lived children, within a bound."""

    def __init__(self, client_id: int, limit_seconds: float = 10.0) -> None:
        self._client_id = client_id
        self._limit_seconds = limit_seconds
        self._residents: frozenset[int] | None = None

    def __call__(self) -> None:
        running = children_of(self._client_id)
        if self._residents is None:  # e.g. MCP servers: they stay, so waiting for them is in vain
            self._residents = running
        until = time.monotonic() + self._limit_seconds
        for process_id in running - self._residents:
            wait_for_end(process_id, until - time.monotonic())


def wait_for_end(process_id: int, seconds: float) -> bool:
    """True once that process is over (also if it was before we looked); it is not reaped."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], max(0.0, seconds))[0])
    finally:
        os.close(descriptor)


def children_of(parent_id: int) -> frozenset[int]:
    """The processes a process has started and not yet reaped."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may end while we look
            # "7 (a name) S 1 ...": the name may hold anything, so count from its last bracket.
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == parent_id:
                found.add(int(stat.parent.name))
    return frozenset(found)
