"""What a supervisor leaves that was itself killed: on Linux it becomes ours, and ours to end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from holdfast.run import supervisor


@contextmanager
def adopted() -> Iterator[None]:
    """While sessions run. Whoever runs one in a process of his own goes on without: others'
    daemons would stay there as dead children nobody asks for."""
    supervisor.adopt()
    try:
        yield
    finally:
        supervisor.adopt(on=False)


def strays(but: Collection[int]) -> list[int]:
    """`but`: supervisors that live. A program we run for ourselves (git, say) is in our own
    session; supervisors, and so what they leave, never are."""
    ours = os.getsid(0)
    return [pid for pid, session in supervisor.children() if session != ours and pid not in but]


def end(found: Callable[[], list[int]]) -> None:
    """All of them; asked anew each time, for supervisors are started meanwhile."""
    if supervisor.LINUX:
        supervisor.end_all(found, 0, lambda: time.sleep(0.05))
