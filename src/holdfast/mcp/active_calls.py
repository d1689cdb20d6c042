"""The calls at work: what is done in the background waits for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Calls:
    """`idle` is set while no tool is at work."""

    def __init__(self) -> None:
        self.idle = threading.Event()
        self.idle.set()
        self._lock = threading.Lock()
        self._count = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def _change(self, by: int) -> None:
        with self._lock:
            self._count += by
            if self._count:
                self.idle.clear()
            else:
                self.idle.set()
