"""The memory folder on disk: read without following links, written atomically, under our lock.

The client writes there too and takes no lock. So the index is replaced only if it still holds what
was read. Topics are copied to our own folder before we change or retire them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from holdfast.files import lock, small_files
from holdfast.memory.topic import NotWritten
from holdfast.wire import places

MOST_FILES = 2_000
MOST_TOPIC_BYTES = 256 << 10
MOST_INDEX_BYTES = 4 << 20
PATIENCE_SECONDS = 5.0
TRIES = 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_COPIES = 200


class FolderFile(NamedTuple):
    """One file as it was read."""

    data: bytes
    modified_ms: int
    is_cut: bool


def names(folder: Path) -> list[str]:
    """List the names of topic files: regular files only, no links."""
    try:
        with os.scandir(folder) as entries:
            found = [e.name for e in entries if e.is_file(follow_symlinks=False)]
    except OSError:
        return []
    wanted = (name for name in found if name.endswith(".md") and not name.startswith("."))
    return sorted(name for name in wanted if name != "MEMORY.md")[:MOST_FILES]


def taken_names(folder: Path) -> set[str]:
    """Return all names in the folder in lower case: some disks take `Memory.md` and `memory.md` for
    the same file."""
    with suppress(OSError):
        return {name.casefold() for name in os.listdir(folder)} | {"memory.md"}  # noqa: PTH208
    return {"memory.md"}


def read(folder: Path, name: str, most: int = MOST_TOPIC_BYTES) -> FolderFile | None:
    """Read a regular file of this folder; None if it is missing, a link or a pipe."""
    with suppress(OSError, ValueError):
        fd = os.open(folder / name, _READ)
        try:
            about = os.fstat(fd)
            if stat.S_ISREG(about.st_mode):
                with os.fdopen(fd, "rb", closefd=False) as file:
                    data = file.read(most + 1)
                return FolderFile(data[:most], int(about.st_mtime * 1000), len(data) > most)
        finally:
            os.close(fd)
    return None


def replace(folder: Path, name: str, data: bytes) -> None:
    """Replace a file atomically; its permissions stay."""
    path = folder / name
    with _in_words(folder):
        make(folder)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
        places.replace_whole(str(path), data, flush=True)
        path.chmod(mode)


def create(folder: Path, name: str, data: bytes) -> None:
    """Create a file. A file that somebody else created meanwhile is never overwritten."""
    path = folder / name
    with _in_words(folder):
        make(folder)
        fd = os.open(path, _CREATE, 0o600)
        try:
            places.write_all(fd, data)
            places.flush_to_disk(fd)
        except OSError:
            path.unlink()
            raise
        finally:
            os.close(fd)


def swap(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file that the client may be writing. One that becomes empty is removed."""
    for _ in range(TRIES):
        found = read(folder, name, MOST_INDEX_BYTES)
        if found is None and os.path.lexists(folder / name):
            raise NotWritten(f"{folder / name} is a link or cannot be read, and was left alone")
        if found is not None and found.is_cut:
            raise NotWritten(f"{folder / name} is longer than {MOST_INDEX_BYTES:,} bytes")
        before = found.data if found else b""
        after = change(before)
        now = read(folder, name, MOST_INDEX_BYTES)
        if (now.data if now else b"") == before:
            if after != before:
                replace(folder, name, after)
            if now and not after:
                remove(folder, name)
            return
    raise NotWritten(f"another program keeps changing {folder}/{name}")


def remove(folder: Path, name: str) -> None:
    with _in_words(folder):
        (folder / name).unlink()


@contextmanager
def _in_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritten(f"{folder} cannot be written: {error.strerror or error}") from error


def folder_for_copies(folder: Path) -> Path:
    """Return the folder of our own copies for this memory folder."""
    key = crc32(str(folder.resolve()).encode("utf-8", "surrogateescape"))
    return Path(places.home()) / "memory" / f"{key:08x}"


def make(folder: Path) -> None:
    os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103 (pathlib ignores the mode of parents)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Let one Holdfast write at a time. The lock is with our files, not in the client's folder."""
    path = folder_for_copies(folder) / "lock"
    with _in_words(path.parent), lock.hold_file(str(path), PATIENCE_SECONDS) as is_ours:
        if not is_ours:
            raise NotWritten("another Holdfast is writing this memory")
        yield


def copy(path: Path, file: str, now_ms: int) -> str:
    """Copy a file before it is changed, and return the path. If that fails, nothing may be
    changed."""
    found = read(path, file)
    if found is None:
        return ""
    place = folder_for_copies(path) / "before"
    with _in_words(place):
        small_files.put(str(place / f"{now_ms:013}-{file}"), found.data)
    for old in sorted(place.glob("*.md"))[:-MOST_COPIES]:
        old.unlink(missing_ok=True)
    return str(place / f"{now_ms:013}-{file}")
