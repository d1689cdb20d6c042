"""What a supervisor leaves that was itself killed: on Linux it becomes ours, and ours to end."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from holdfast.conductor import supervise


@contextmanager
def adopted() -> Iterator[None]:
    """While sessions run. Whoever runs one in a process of his own goes on without: others'
    daemons would stay there as dead children nobody asks for."""
    supervise.adopt()
    try:
        yield
    finally:
        supervise.adopt(on=False)


def end(but: Collection[int]) -> None:
    """All of them. `but`: supervisors that live. A program we run for ourselves (git, say) is in
    our own session; supervisors, and so what they leave, never are."""
    if supervise.LINUX:
        ours = os.getsid(0)

        def left() -> list[int]:
            found = supervise.children()
            return [pid for pid, session in found if session != ours and pid not in but]

        supervise.end_all(left, 0, lambda: time.sleep(0.05))
