"""The memory folder on disk: read without following links, written atomically, under our lock.

The client writes there too and takes no lock. So the index is replaced only if it still holds what
was read; if its old file was written to at that very moment, the change is made again on top.
Topics are copied to our own folder before we change or retire them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from holdfast.files import lock
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
MADE = "made-index"


@dataclass(frozen=True, slots=True)
class FolderFile:
    """One file as it was read."""

    data: bytes
    modified_ms: int
    is_cut: bool = False


def names(folder: Path) -> list[str]:
    """List the names of topic files: regular files only, no links."""
    try:
        with os.scandir(folder) as entries:
            found = [e.name for e in entries if e.is_file(follow_symlinks=False)]
    except OSError:
        return []
    wanted = (name for name in found if name.endswith(".md") and not name.startswith("."))
    return sorted(name for name in wanted if name != "MEMORY.md")[:MOST_FILES]


def is_free(folder: Path, name: str, taken: frozenset[str]) -> bool:
    """Return whether a name is free, also in another case: some disks take `Memory.md` and
    `memory.md` for the same file."""
    return name.casefold() not in taken and not os.path.lexists(folder / name)


def taken_names(folder: Path) -> frozenset[str]:
    """Return all names in the folder in lower case, also of files that cannot be read."""
    try:
        return frozenset(name.casefold() for name in os.listdir(folder)) | {"memory.md"}  # noqa: PTH208
    except OSError:
        return frozenset({"memory.md"})


def read(folder: Path, name: str, most: int = MOST_TOPIC_BYTES) -> FolderFile | None:
    """Read a regular file of this folder; None if it is missing, a link or a pipe."""
    fd = _open(folder, name)
    if fd is None:
        return None
    try:
        data = _all(fd, most + 1)
        return FolderFile(data[:most], int(os.fstat(fd).st_mtime * 1000), is_cut=len(data) > most)
    except OSError:
        return None
    finally:
        os.close(fd)


def replace(folder: Path, name: str, data: bytes) -> None:
    """Replace a file atomically; its permissions stay."""
    try:
        make(folder)
        path = folder / name
        about = path.lstat() if os.path.lexists(path) else None
        if about is not None and not stat.S_ISREG(about.st_mode):
            raise NotWritten(f"{path} is not a plain file, and was left alone")
        places.replace_whole(str(path), data, flush=True)
        if about is not None:
            path.chmod(stat.S_IMODE(about.st_mode))
    except OSError as error:
        raise NotWritten(f"{folder} cannot be written: {error.strerror or error}") from error


def create(folder: Path, name: str, data: bytes) -> None:
    """Create a file. A file that somebody else created meanwhile is never overwritten."""
    path = folder / name
    try:
        make(folder)
        fd = os.open(path, _CREATE, 0o600)
    except OSError as error:
        raise NotWritten(f"{path} cannot be created: {error.strerror or error}") from error
    try:
        places.write_all(fd, data)
        places.flush_to_disk(fd)
    except OSError as error:
        path.unlink()
        raise NotWritten(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        os.close(fd)


def swap(folder: Path, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Change a file that the client may be writing, and return its new content."""
    for _ in range(TRIES):
        fd = _open(folder, name)
        try:
            before = _all(fd, MOST_INDEX_BYTES + 1) if fd is not None else b""
            _must_be_whole(folder, name, fd, before)
            after = change(before)
            if after == before or _swap(folder, name, fd, before, after):
                return after
        except OSError as error:
            raise NotWritten(f"{folder} cannot be written: {error.strerror or error}") from error
        finally:
            if fd is not None:
                os.close(fd)
    raise NotWritten(f"another program keeps changing {folder}/{name}")


def remove(folder: Path, name: str) -> None:
    try:
        (folder / name).unlink()
    except OSError as error:
        raise NotWritten(f"{folder / name} cannot be removed: {error.strerror}") from error


def note_made(folder: Path) -> None:
    """Note beside our copies that we created the index of this folder, and not the client."""
    places.replace_whole(str(folder_for_copies(folder) / MADE), b"")


def remove_made(folder: Path, name: str) -> None:
    """Remove the index if we created it and nothing is left in it."""
    note, path = folder_for_copies(folder) / MADE, folder / name
    with suppress(OSError):
        if note.exists() and path.lstat().st_size == 0:
            path.unlink()
            note.unlink()


def folder_for_copies(folder: Path) -> Path:
    """Return the folder of our own copies for this memory folder."""
    key = crc32(str(folder.resolve()).encode("utf-8", "surrogateescape"))
    return Path(places.home()) / "memory" / f"{key:08x}"


def make(folder: Path) -> None:
    os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103 (pathlib ignores the mode of parents)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Let one Holdfast write at a time. The lock is with our files, not in the client's folder."""
    ours = folder_for_copies(folder)
    try:
        fd = lock.open_file(str(ours / "lock"))
    except OSError as error:
        raise NotWritten(f"{ours} cannot be written: {error.strerror or error}") from error
    try:
        if not lock.acquire(fd, PATIENCE_SECONDS):
            raise NotWritten("another Holdfast is writing this memory")
        yield
    finally:
        os.close(fd)


def _open(folder: Path, name: str) -> int | None:
    """Open a file for reading. If the system allows, the access time stays: our reading is not a
    use."""
    for flags in (_READ | getattr(os, "O_NOATIME", 0), _READ):
        with suppress(OSError, ValueError):
            fd = os.open(folder / name, flags)
            if places.is_regular(fd):
                return fd
            os.close(fd)
            return None
    return None


def _must_be_whole(folder: Path, name: str, fd: int | None, before: bytes) -> None:
    path = folder / name
    if fd is None and os.path.lexists(path):
        raise NotWritten(f"{path} is a link or cannot be read, and was left alone")
    if len(before) > MOST_INDEX_BYTES:
        raise NotWritten(f"{path} is longer than {MOST_INDEX_BYTES:,} bytes, and was left alone")


def _swap(folder: Path, name: str, fd: int | None, before: bytes, after: bytes) -> bool:
    """Replace the file; return False if somebody wrote it meanwhile. Their text is then still
    there, or is put back from the old file."""
    now = read(folder, name, MOST_INDEX_BYTES + 1)
    if (now.data if now else b"") != before:
        return False
    replace(folder, name, after)
    if fd is None:
        return True
    os.lseek(fd, 0, os.SEEK_SET)
    theirs = _all(fd, MOST_INDEX_BYTES + 1)
    if theirs == before:
        return True
    replace(folder, name, theirs)
    return False


def _all(fd: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := os.read(fd, min(most, 1 << 20))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def copy(path: Path, file: str, now_ms: int) -> str:
    """Copy a file before it is changed, and return the path. If that fails, nothing may be
    changed."""
    found = read(path, file)
    if found is None:
        return ""
    place = folder_for_copies(path) / "before"
    target = place / f"{now_ms:013}-{file}"
    try:
        make(place)
        places.replace_whole(str(target), found.data)
    except OSError as error:
        raise NotWritten(f"no copy can be written to {place}: {error.strerror}") from error
    for old in sorted(place.glob("*.md"))[:-MOST_COPIES]:
        with suppress(OSError):
            old.unlink()
    return str(target)
