"""The shared database, opened at the first call that needs it, and once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from holdfast.hub.store.engine import sqlite_file
from holdfast.hub.store.errors import Unreachable
from holdfast.hub.store.store import Store

ANSWER_SECONDS = 15.0
T = TypeVar("T")
_lock = threading.Lock()
_opened: list[Store] = []


def in_time(ask: Callable[[], T]) -> T:
    """Whoever asks is answered, also while the database hangs: that holds up a thread of its own,
    and none of the few that answer for all tools."""
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(ask())
        except BaseException as slip:
            found.set_exception(slip)

    threading.Thread(target=run, name="holdfast-database", daemon=True).start()
    try:
        return found.result(ANSWER_SECONDS)
    except TimeoutError:
        words = f"the database did not answer in {ANSWER_SECONDS:g} seconds"
        raise Unreachable(words) from None


def store() -> Store:
    """Each call tries anew until it opens: what is wrong with it is said by that call alone."""
    with _lock:
        if not _opened:
            _opened.append(Store.open())
        return _opened[0]


def if_there() -> Store | None:
    """The same, for what must not be the reason that a database is made."""
    file = sqlite_file("")
    return store() if file is None or file.exists() else None


def close() -> None:
    with _lock:
        while _opened:
            _opened.pop().close()
