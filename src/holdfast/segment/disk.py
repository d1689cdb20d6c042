"""Segments on the disk: one folder of ours, one writer at a time, each file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from holdfast.files import atomic, folders, lock
from holdfast.files.folders import Place
from holdfast.segment.errors import NotStored, ShelfBusy
from holdfast.wire import log, places

MOST_BYTES = 1 << 20
MOST_ASIDE = 100  # names tried for what is set aside


def place(*below: str) -> Place:
    return Place(places.home(), "/".join(("segments", *below)))


@contextmanager
def held() -> Iterator[None]:
    """Nobody else changes a segment meanwhile; ShelfBusy where that could not be had."""
    with lock.hold(place()) as ours:
        if not ours:
            if why := lock.why_not_lockable(place()):
                raise NotStored(why)
            raise ShelfBusy("another session or command is writing segments")
        yield


def read(path: str) -> bytes:
    """The whole of a small file; nothing where there is none, or one too long to be ours."""
    data = places.read_small(path, MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else b"?"  # damaged, whoever decodes it


def put(where: Place, name: str, data: bytes) -> None:
    """On the disk once this returns; NotStored, and what was there before, where it cannot be."""
    try:
        with folders.entered(where) as folder:
            atomic.clear_left(folder)
            atomic.replace_whole(folder, name, data, flushed=True)
            atomic.flush(folder)
    except (OSError, ValueError) as slip:
        why = getattr(slip, "strerror", "") or slip
        raise NotStored(f"{where.path}/{name} was not written: {why}") from None


def names(where: Place) -> list[str]:
    """The ids of the segments that lie here."""
    found = folders.names_in(where.path)
    return sorted(name.removesuffix(".json") for name in found if name.endswith(".json"))


def remove(where: Place, name: str) -> bool:
    """Whether it was there; NotStored where it still is."""
    path = f"{where.path}/{name}"
    try:
        os.unlink(path)  # noqa: PTH108
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as slip:
        raise NotStored(f"{path} was not removed: {slip.strerror}") from None
    return True


def set_aside(path: str, why: str) -> None:
    """What cannot be read is kept under another name, and said; nothing is thrown away."""
    for number in range(1, MOST_ASIDE):
        aside = f"{path}.damaged-{number}"
        if os.path.lexists(aside):
            continue
        with suppress(OSError):
            os.rename(path, aside)  # noqa: PTH104
            log.add("WARN", "segments", f"set aside as {aside}: {why}")
        return
