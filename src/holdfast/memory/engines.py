"""Open an index: in PostgreSQL if the team's database is one, else in Holdfast's own files.

An index stays open in its process, so that the next search can use what was loaded.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.memory import locations, sqlite_index
from holdfast.memory.index import Index, UnusableIndex
from holdfast.memory.sqlite_index import Embedded

if TYPE_CHECKING:
    from holdfast.hub.store.store import Store
    from holdfast.memory.postgres_index import Shared

VARIABLE = "HOLDFAST_DATABASE"
MOST_OPEN = 32
_lock = threading.Lock()
# By path, with the file's inode: the file may be replaced.
_open: dict[str, tuple[int, Embedded]] = {}
_stores: dict[str, Store] = {}


def is_shared() -> bool:
    return os.environ.get(VARIABLE, "").startswith("postgres")


def open_index(project: str) -> Index:
    return open_shared(project) if is_shared() else local(project)


def local(project: str) -> Embedded:
    """Open the index in Holdfast's own file, also if the team's database does not answer."""
    path = locations.index_file(project)
    with _lock:
        number, held = _open.pop(path, (0, None))
        if held is not None and number != _number(path):
            held.close()
            held = None
        if held is None:
            held = Embedded(project, path)
        _open[path] = _number(path), held
        while len(_open) > MOST_OPEN:  # the least recently used; its last user closes it
            _open.pop(next(iter(_open)))
    return held


def store() -> Store:
    """Open the team's database once per process. Raises StoreError if it does not answer."""
    from holdfast.hub.store.store import Store

    address = os.environ[VARIABLE]
    with _lock:
        if address not in _stores:
            _stores[address] = Store.open(address)
        return _stores[address]


def open_shared(project: str) -> Shared:
    from holdfast.memory.postgres_index import Shared

    return Shared(store(), project)


def all_indexes(project: str, notes: list[str]) -> Iterator[Index]:
    """Yield every index as it is, this project's first; note unreadable ones."""
    if is_shared():
        import sqlalchemy as sa

        query = sa.text("SELECT project FROM recall_projects ORDER BY project <> :first, project")
        for (known,) in store().read(lambda c: c.execute(query, {"first": project}).all()):
            yield open_shared(known)
        return
    own = locations.index_file(project)
    for path in sorted(locations.index_files(), key=lambda path: path != own):
        try:
            known = sqlite_index.project_of(path)
            if locations.index_file(known) == path:
                yield local(known)
        except UnusableIndex as error:
            notes.append(f"left out: {error}")


def set_aside(project: str) -> str:
    """Set the damaged index of a project aside, and return its new path."""
    path = locations.index_file(project)
    with _lock:
        _, held = _open.pop(path, (0, None))
    if held is not None:  # only this one: other indexes of this process are in use
        held.close()
    return sqlite_index.set_aside(path)


def release() -> None:
    """Close every index and database that this process has open."""
    with _lock:
        while _open:
            _open.popitem()[1][1].close()
        while _stores:
            _stores.popitem()[1].close()


def _number(path: str) -> int:
    try:
        return Path(path).stat().st_ino
    except OSError:
        return 0
