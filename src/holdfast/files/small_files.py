"""Small files in HOLDFAST_HOME that cannot be made again: one writer for segments, outputs,
transcripts and the budget.

Each is written whole and flushed. A file that cannot be read is never overwritten: it is set aside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from holdfast.files import atomic
from holdfast.files.folders import FolderPlace, enter, names_in
from holdfast.wire import log, places


def put(path: str, data: bytes, *, proven: bool = False) -> None:
    """Replace a file; OSError leaves the old one. `proven`: read it back first."""
    with _open_folder(path) as (folder, name):
        atomic.replace_whole(folder, name, data, flushed=True, proven=proven)
        atomic.flush(folder)


def put_new(path: str, data: bytes) -> None:
    """Write a file that does not exist; OSError if another has its name."""
    with _open_folder(path) as (folder, name):
        atomic.put_new(folder, data, [name])


@contextmanager
def _open_folder(path: str) -> Iterator[tuple[int, str]]:
    """Open the file's folder, and remove drafts there whose writer was killed."""
    inside, _, name = path.removeprefix(f"{places.home()}/").rpartition("/")
    with enter(FolderPlace(places.home(), inside)) as folder:
        atomic.clear_left(folder)
        yield folder, name


def stems(folder: str, ending: str) -> list[str]:
    """List the files of a folder that end so, without the ending."""
    return sorted(name.removesuffix(ending) for name in names_in(folder) if name.endswith(ending))


def remove(path: str) -> bool:
    """Remove a file; return whether it existed."""
    try:
        os.unlink(path)  # noqa: PTH108
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def set_aside(path: str, why: str) -> str:
    """Rename a file that cannot be read, and log it; return its new name."""
    names = (f"{path}.damaged{f'-{n}' if n else ''}" for n in count())
    aside = next(name for name in names if not os.path.lexists(name))
    os.rename(path, aside)  # noqa: PTH104
    log.add("WARN", "files", f"{path} was set aside as {aside}: {why}")
    return aside
