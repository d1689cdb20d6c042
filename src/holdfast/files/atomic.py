"""Files that appear whole or not at all: a draft beside them, and a name only at the end."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterable
from contextlib import suppress

from holdfast.files.errors import PhantomCheckpoint
from holdfast.wire import places

STALE_SECONDS = 3600.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
_NO_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def put_new(folder: int, data: bytes, names: Iterable[str]) -> str:
    """The first free one of these names now holds the data, proven; nothing was overwritten.

    A name is on disk only when its folder is: the caller says `flush` when all names are given.
    """
    # Same folder on purpose: a rename across filesystems is a copy, and a copy can tear.
    draft = _name()
    fd = os.open(draft, _NEW, 0o600, dir_fd=folder)
    try:
        with suppress(OSError):  # held while we live, so that nobody clears it away under us
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write(fd, data)
        os.fsync(fd)
        _prove(folder, draft, data)
        name = _link_first_free(folder, draft, names)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        os.close(fd)
    return name


def replace_whole(
    folder: int, name: str, data: bytes, *, flushed: bool = False, proven: bool = False
) -> None:
    """Whole for every reader; `flushed` for what cannot be made again, as index and snapshot can:
    the caller then says `flush` too. `proven`: read back before it takes the old one's place."""
    draft = _name()
    fd = os.open(draft, _NEW, 0o600, dir_fd=folder)
    try:
        _write(fd, data)
        if flushed:
            os.fsync(fd)
        if proven:
            _prove(folder, draft, data)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise
    finally:
        os.close(fd)


def clear_left(folder: int) -> list[str]:
    """Remove drafts whose writer is gone: its lock is free, and its pid is dead or an hour old."""
    gone = []
    for name in os.listdir(folder):
        if is_draft(name) and _abandoned(folder, name):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
                gone.append(name)
    return gone


def is_draft(name: str) -> bool:
    """Whether a file is called as we call ours: `.<pid>-<time>.draft`."""
    pid, dash, moment = name.removeprefix(".").removesuffix(".draft").partition("-")
    ours = name.startswith(".") and name.endswith(".draft") and bool(dash) and pid.isdecimal()
    return ours and bool(moment) and not moment.strip("0123456789abcdef")


def _name() -> str:
    return f".{os.getpid()}-{time.monotonic_ns():x}.draft"


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _prove(folder: int, draft: str, data: bytes) -> None:
    """Read back what is on the disk: the cached pages are let go first, where the system can."""
    fd = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(fd, "rb") as file:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        if file.read() != data:
            raise PhantomCheckpoint("the disk does not hold what was written to it")


def _link_first_free(folder: int, draft: str, names: Iterable[str]) -> str:
    for name in names:
        with suppress(FileExistsError):
            _link(folder, draft, name)
            return name
    raise FileExistsError(errno.EEXIST, "every name of this second is taken")


def _link(folder: int, draft: str, name: str) -> None:
    """A hard link never overwrites. Where there are none (FAT, some shares): look, then rename."""
    try:
        os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as slip:
        if slip.errno not in _NO_LINKS:
            raise
        if name in os.listdir(folder):
            raise FileExistsError(errno.EEXIST, name) from None
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def flush(folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as slip:
        if slip.errno not in _NO_FLUSH:  # some filesystems cannot, and need not
            raise


def _abandoned(folder: int, name: str) -> bool:
    try:
        # A pipe with such a name would have us wait for whoever writes into it.
        fd = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
        )
    except OSError:
        return False
    try:
        if not places.is_regular(fd):
            return False
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        old = time.time() - os.fstat(fd).st_mtime > STALE_SECONDS
        return old or not _alive(name[1:].partition("-")[0])
    except OSError:
        return False
    finally:
        os.close(fd)


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except OSError:
        return True
    return True
