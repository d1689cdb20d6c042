"""The shared database, opened once, by the first call that needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from holdfast.hub.errors import Unreachable
from holdfast.hub.store.engine import sqlite_file
from holdfast.hub.store.store import Store

ANSWER_SECONDS = 15.0
T = TypeVar("T")
_lock = threading.Lock()
_opened: list[Store] = []


def run_in_time(ask: Callable[[], T]) -> T:
    """Run a query with a time limit. It runs on a thread of its own, so that a database that hangs
    does not block the few threads that answer for all tools."""
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(ask())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, name="holdfast-database", daemon=True).start()
    try:
        return found.result(ANSWER_SECONDS)
    except TimeoutError:
        words = f"the database did not answer in {ANSWER_SECONDS:g} seconds"
        raise Unreachable(words) from None


def store() -> Store:
    """The open store. Each call tries to open it until that succeeds, and raises its own error."""
    with _lock:
        if not _opened:
            _opened.append(Store.open())
        return _opened[0]


def open_existing() -> Store | None:
    """The store, or None rather than creating a database file."""
    file = sqlite_file("")
    return store() if file is None or file.exists() else None


def close() -> None:
    with _lock:
        while _opened:
            _opened.pop().close()
