"""The shared database, opened at the first call that needs it, and once."""

from __future__ import annotations

import threading

from holdfast.store.engine import sqlite_file
from holdfast.store.store import Store

_lock = threading.Lock()
_opened: list[Store] = []


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
