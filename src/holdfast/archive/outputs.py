"""The outputs on disk: one owner-only file each, its first line says what it is.

keep(id, text, about)      load(id) -> Output      beginning(start) -> ids      prune(…)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from holdfast.archive.errors import NoOutput, NotArchived
from holdfast.files import atomic
from holdfast.files.atomic import PhantomCheckpoint
from holdfast.wire import places

VERSION = 1
MOST_BYTES = 64 << 20
PRUNE_SECONDS = 600
DAY_SECONDS = 86_400
_ID = re.compile(r"out-[0-9a-f]{8}")


class Output(NamedTuple):
    id: str
    about: dict[str, Any]  # tool, session_id, project, at_ms
    text: str


def is_output(word: str) -> bool:
    return _ID.fullmatch(word) is not None


def folder() -> str:
    return f"{places.home()}/outputs"


def new_id() -> str:
    return f"out-{os.urandom(4).hex()}"


def keep(output_id: str, text: str, about: dict[str, Any]) -> None:
    """On the disk, whole, before anybody is told of it; the caller has taken secrets out."""
    head = json.dumps({"version": VERSION, **about}).encode()
    data = head + b"\n" + text.encode("utf-8", "replace")
    path = _path(output_id)
    try:
        os.makedirs(folder(), 0o700, exist_ok=True)  # noqa: PTH103 (hooks come here: no pathlib)
        with _entered() as fd:
            atomic.put_new(fd, data, [f"{output_id}.txt"])  # refuses to take another's place
    except (OSError, PhantomCheckpoint) as slip:
        raise NotArchived(f"{path} was not written: {slip}") from slip


def load(output_id: str) -> Output:
    if not is_output(output_id):
        raise NoOutput(f"{output_id[:40]!r} is no output's id")
    data = places.read_small(_path(output_id), MOST_BYTES)
    head, _, text = data.partition(b"\n")
    try:
        about = json.loads(head)
        if about["version"] != VERSION:
            raise NoOutput(f"{output_id} was written by another version of Holdfast")
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NoOutput(f"there is no output {output_id}, or not any more") from None
    return Output(output_id, about, text.decode("utf-8", "replace"))


def beginning(start: str) -> list[str]:
    """The ids that begin so."""
    names = (path.rpartition("/")[2].removesuffix(".txt") for _, _, path in _known())
    return sorted(name for name in names if name.startswith(start))


def prune(days: float, most_bytes: int, now: float) -> int:
    """Drop those that are too old, then the oldest until the rest is small enough. How many. What
    a killed hook had begun goes too."""
    known = sorted(_known(), reverse=True)
    kept = dropped = 0
    for at, size, path in known:
        kept += size
        if now - at > days * DAY_SECONDS or kept > most_bytes:
            _remove(path)
            dropped += 1
    with suppress(OSError), _entered() as fd:
        atomic.clear_left(fd)
    return dropped


def prune_is_due(now: float) -> bool:
    """Once in ten minutes: a folder of ten thousand files takes 20 ms to look through."""
    stamp = f"{folder()}/pruned"
    try:
        if 0 <= now - os.stat(stamp).st_mtime < PRUNE_SECONDS:  # noqa: PTH116
            return False
    except OSError:
        pass
    try:
        places.replace_whole(stamp, b"")
    except OSError:
        return False
    return True


def _known() -> list[tuple[float, int, str]]:
    found = []
    try:
        with os.scandir(folder()) as entries:
            for entry in entries:
                if is_output(entry.name.removesuffix(".txt")):
                    at = entry.stat(follow_symlinks=False)
                    found.append((at.st_mtime, at.st_size, entry.path))
    except OSError:
        pass
    return found


def _path(output_id: str) -> str:
    return f"{folder()}/{output_id}.txt"


@contextmanager
def _entered() -> Iterator[int]:
    fd = os.open(folder(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)  # noqa: PTH108
