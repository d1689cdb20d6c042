"""Small files in HOLDFAST_HOME that cannot be made again: one writer for segments, outputs,
transcripts and the budget.

Each is written whole and flushed. A file that cannot be read is never overwritten: it is set aside.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from holdfast.files import atomic, lock
from holdfast.files.folders import FolderPlace, enter, names_in
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError


class NotStored(HoldfastError):
    """A file could not be written; the old one is still there."""

    exit_code = 4
    hint = (
        "nothing was changed; free some space, or set HOLDFAST_HOME to a folder that you can write"
    )


class StoreBusy(HoldfastError):
    exit_code = 5
    hint = "nothing was changed; try again in a moment"


class NewerFile(HoldfastError):
    """A newer Holdfast wrote the file, so this one does not overwrite it."""

    exit_code = 3
    hint = "nothing was changed; upgrade this Holdfast"


def put(path: str, data: bytes, *, proven: bool = False) -> None:
    """Replace a file; NotStored leaves the old one. `proven`: read it back first."""
    with _in_words(path), _open_folder(path) as (folder, name):
        atomic.replace_whole(folder, name, data, flushed=True, proven=proven)
        atomic.flush(folder)


def put_new(path: str, data: bytes) -> None:
    """Write a file that does not exist; NotStored if another has its name."""
    with _in_words(path), _open_folder(path) as (folder, name):
        atomic.put_new(folder, data, [name])


@contextmanager
def _open_folder(path: str) -> Iterator[tuple[int, str]]:
    """Open the file's folder, and remove drafts there whose writer was killed."""
    inside, _, name = path.removeprefix(f"{places.home()}/").rpartition("/")
    with enter(FolderPlace(places.home(), inside)) as folder:
        atomic.clear_left(folder)
        yield folder, name


@contextmanager
def hold(path: str, seconds: float) -> Iterator[bool]:
    """Hold the lock of a file; False if it was not free in time."""
    with _in_words(path):
        fd = lock.open_file(path)
    try:
        yield lock.acquire(fd, seconds)
    finally:
        os.close(fd)


@contextmanager
def _in_words(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, atomic.PhantomCheckpoint) as error:
        reason = getattr(error, "strerror", "") or error
        raise NotStored(f"{path} cannot be written: {reason}") from error


def stems(folder: str, ending: str) -> list[str]:
    """List the files of a folder that end so, without the ending."""
    return sorted(name.removesuffix(ending) for name in names_in(folder) if name.endswith(ending))


def remove(path: str) -> bool:
    with _in_words(path):
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True


def set_aside(path: str, why: str) -> str:
    """Rename a file that cannot be read, and log it; return its new name."""
    names = (f"{path}.damaged{f'-{n}' if n else ''}" for n in count())
    aside = next(name for name in names if not os.path.lexists(name))
    with _in_words(path):
        os.rename(path, aside)
    log.add("WARN", "files", f"{path} was set aside as {aside}: {why}")
    return aside
