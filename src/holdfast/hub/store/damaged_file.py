"""A damaged SQLite file is set aside, never deleted; what can be made again goes to a new one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.files import lock
from holdfast.hub.store.check import assert_whole
from holdfast.hub.store.engine import default_url, open_engine, sqlite_file
from holdfast.hub.store.errors import Corrupt

OURS = (".db", ".sqlite", ".sqlite3")  # a file of any other name may be somebody's text
COMPANIONS = ("", "-wal", "-shm")


def set_aside_if_damaged(address: str = "") -> Path | None:
    """Where the damaged file went; none where the database is sound, or is no file."""
    path = sqlite_file(address)
    if path is None or not path.exists():
        return None
    slip = _damage(address)
    if slip is None:
        return None
    if path.suffix not in OURS:
        raise slip
    with _alone(path):  # another process may have set it aside meanwhile
        return _set_aside(path) if _damage(address) else None


def _damage(address: str) -> Corrupt | None:
    engine = open_engine(address or default_url())
    try:
        assert_whole(engine)
        return None
    except Corrupt as slip:
        return slip
    finally:
        engine.dispose()


def _set_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target, n = path.with_name(f"{path.name}.damaged-{stamp}"), 1
    while target.exists():
        target, n = path.with_name(f"{path.name}.damaged-{stamp}-{n}"), n + 1
    for companion in reversed(COMPANIONS):  # the log first: a new database must not replay it
        part = Path(f"{path}{companion}")
        if part.exists():
            part.replace(f"{target}{companion}")
    return target


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    fd = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lock.acquire(fd, lock.FOREVER)
        yield
    finally:
        os.close(fd)
