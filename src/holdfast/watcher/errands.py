"""Errands one at a time, on a thread of their own: what hangs there (a database that takes the call
and never answers) holds up no look and no end."""

from __future__ import annotations

import threading
from collections.abc import Callable

PATIENCE_SECONDS = 5.0


class Aside:
    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def do(self, errand: Callable[[], None]) -> bool:
        """Whether it was done in time; one that was begun goes on, and until it is done no other
        is begun."""
        if self.is_busy:
            return False
        self._thread = threading.Thread(target=errand, name="holdfast-errand", daemon=True)
        self._thread.start()
        self._thread.join(PATIENCE_SECONDS)
        return not self.is_busy
