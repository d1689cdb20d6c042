"""Several threads at once, at one signal, with a database connection each."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy.engine import Connection

from holdfast.hub.store.store import Store

T = TypeVar("T")


def threads(url: str, changes: Sequence[Callable[[Connection], T]]) -> list[T | Exception]:
    """Each in a store of its own, as if in a process of its own; a refusal is an answer."""
    start = threading.Barrier(len(changes))

    def run(change: Callable[[Connection], T]) -> T | Exception:
        store = Store.open(url)
        try:
            store.read(lambda c: c.exec_driver_sql("SELECT 1"))
            start.wait(30)
            return store.write(change)
        except Exception as error:
            return error
        finally:
            store.close()

    with ThreadPoolExecutor(len(changes)) as pool:
        return list(pool.map(run, changes))
