"""Is the SQLite file at a path still the one that is open? Another process may have set it aside as
damaged; whoever has it open would go on writing where nobody looks.
"""

from __future__ import annotations

import os
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DisconnectionError

from holdfast.hub.store.errors import Unreachable

_OPEN = "holdfast_file"


def watch(engine: Engine, path: str) -> None:
    """A connection to another file than the one at the path is not handed out: it is made anew."""

    def connect(dialect: Any, record: Any, args: Any, named: Any) -> Any:
        before = identity(path)  # first: a file that is swapped meanwhile is found out, not missed
        made = dialect.connect(*args, **named)
        record.info[_OPEN] = (path, before or identity(path))
        return made

    def check(_connection: Any, record: Any, _proxy: Any) -> None:
        there = identity(path)
        if there is None:
            raise Unreachable(f"the database file is gone: {path}")
        if record.info[_OPEN][1] != there:
            raise DisconnectionError

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkout", check)


def has_moved(connection: Connection) -> bool:
    """Never, where there is no file."""
    found = connection.info.get(_OPEN)
    return found is not None and identity(found[0]) != found[1]


def assert_here(connection: Connection) -> None:
    """After a commit, before anybody is told of it."""
    if has_moved(connection):
        raise Unreachable("the database file was replaced while this was written: try again")


def identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino
