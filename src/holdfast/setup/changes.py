"""A change to one file, and a set of changes that is made completely or not at all.

A file gets its new content only after that is complete on disk and if the file is still as we read
it. When one change fails, those before it are undone. One process installs at a time.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.files import atomic, lock
from holdfast.setup.errors import CannotWrite, InstallError, SettingsReadOnly
from holdfast.wire import places

WAIT_SECONDS = 10.0
NO_HOME = "nothing was changed; set HOLDFAST_HOME to a folder that you can write"
MOST_BYTES = 64 * 2**20  # the largest file of Claude Code, its history of prompts, has a few


@dataclass(frozen=True, slots=True)
class InstallChange:
    """A file's content before and after; None means no file. Private: for the owner only."""

    path: Path
    before: bytes | None
    after: bytes | None
    private: bool = False

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    def reversed(self) -> InstallChange:
        return InstallChange(self.path, self.after, self.before, self.private)


def bytes_of(path: Path) -> bytes | None:
    """The content of a file; None if there is none. A repository may bring a link to a device or a
    pipe, whose content never ends, or a file without measure: these are refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if not places.is_regular(descriptor):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES:,} bytes", str(path))
    return data


def missing_folders(path: Path) -> list[Path]:
    """The folders above `path` that do not exist yet, outermost first."""
    missing = [folder for folder in path.parents if not folder.exists()]
    return missing[::-1]


def check_writable(path: Path) -> None:
    """Refuse what is marked read-only, also for root, who could write it."""
    folder = next(folder for folder in path.parents if folder.exists())
    for place in (path, folder) if path.exists() else (folder,):
        if not place.stat().st_mode & 0o222 or not os.access(place, os.W_OK):
            raise SettingsReadOnly(f"{place} is read-only")
    if not folder.is_dir():
        raise SettingsReadOnly(f"{folder} is not a folder")


def apply(
    changes: Sequence[InstallChange],
    folders: Sequence[Path] = (),
    last: Sequence[InstallChange] = (),
) -> None:
    """Make all changes in order, remove those `folders` that are then empty, and make the `last`
    changes: either all of it, or none."""
    done: list[InstallChange] = []
    made: list[Path] = []

    def make(change: InstallChange) -> None:
        done.append(change)
        made.extend(_make_folders(change))
        put(change)

    try:
        for change in changes:
            make(change)
        remove_empty(folders)
        for change in last:
            make(change)
    except BaseException as error:  # also Ctrl-C must not leave half of it
        _undo(done, made)
        if isinstance(error, OSError):
            raise _wrap_error(error, done[-1].path) from error
        raise


def left_drafts(folder: Path) -> list[Path]:
    """Our drafts in this folder whose writer was killed."""
    try:
        return sorted(path for path in folder.iterdir() if atomic.is_left_draft(path.name))
    except OSError:  # there is none, or another uninstall removes it just now
        return []


def clear(left: Path) -> None:
    """Remove a draft, or a folder that is empty."""
    with contextlib.suppress(OSError):
        left.rmdir() if left.is_dir() else left.unlink()


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove those folders that are empty, innermost first."""
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _undo(done: list[InstallChange], made: list[Path]) -> None:
    stuck = []
    for change in reversed(done):
        try:
            if bytes_of(change.path) == change.after:  # else it was not made, or someone changed it
                _make_folders(change.reversed())
                put(change.reversed())
        except (OSError, InstallError) as error:
            stuck.append(f"{change.path} ({error})")
    remove_empty(made)
    if stuck:
        raise InstallError(
            "a step failed and could not be undone: " + ", ".join(stuck),
            "compare these files with the backups in HOLDFAST_HOME/installs",
            6,
        )


def _make_folders(change: InstallChange) -> list[Path]:
    missing = missing_folders(change.path) if change.after is not None else []
    for folder in missing:
        folder.mkdir(mode=0o700 if change.private else 0o777, exist_ok=True)
    return missing


def put(change: InstallChange) -> None:
    if change.after is None:
        _check_unchanged(change)
        change.path.unlink(missing_ok=True)
    else:
        _replace(change, change.after)
    with contextlib.suppress(FileNotFoundError):
        folder = os.open(change.path.parent, os.O_RDONLY)
        try:
            atomic.flush(folder)
        finally:
            os.close(folder)


def _replace(change: InstallChange, data: bytes) -> None:
    def check(draft: str) -> None:
        path = change.path.with_name(draft)
        _copy_mode(change.path, path)
        if path.read_bytes() != data:
            raise CannotWrite(f"{path} does not hold what was written to it")
        _check_unchanged(change)

    folder = os.open(change.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        places.replace_whole(change.path.name, data, flush=True, folder=folder, check=check)
    finally:
        os.close(folder)


def _copy_mode(path: Path, draft: Path) -> None:
    """Copy mode and owner of the file to be replaced: root must not take over a user's file."""
    with contextlib.suppress(FileNotFoundError):
        old = path.stat()
        draft.chmod(old.st_mode & 0o7777)
        with contextlib.suppress(PermissionError):
            os.chown(draft, old.st_uid, old.st_gid)


def _check_unchanged(change: InstallChange) -> None:
    if bytes_of(change.path) != change.before:
        raise InstallError(
            f"{change.path} was changed by someone else just now",
            "nothing was changed; run the command again",
        )


def _wrap_error(error: OSError, path: Path) -> InstallError:
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SettingsReadOnly(f"{path} cannot be written: {error.strerror}")
    return CannotWrite(f"{path} cannot be written: {error.strerror or error}")


@contextmanager
def only_one(ours: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock; an error if another process keeps it."""
    path = ours / "install.lock"
    try:
        descriptor = lock.open_file(str(path))
    except OSError as error:
        words = f"{path} cannot be written: {error.strerror or error}"
        raise InstallError(words, NO_HOME) from error
    try:
        if not lock.acquire(descriptor, wait_seconds):
            raise InstallError(f"another install holds {path}", "wait for it to end")
        yield
    finally:
        os.close(descriptor)


def check_home(ours: Path) -> None:
    """Refuse a place for Holdfast's files that is not, or is not inside, a folder."""
    there = next(place for place in (ours, *ours.parents) if os.path.lexists(place))
    if not there.is_dir():
        raise InstallError(f"Holdfast saves in {ours}, and {there} is not a folder", NO_HOME)
