"""Atomic writes: a file appears whole or not at all.

The data goes to a draft in the same folder. The draft gets its final name when it is complete.
`places.replace_whole` does that for a path, and here for a name in an open folder.
"""

import errno
import os
import time
from collections.abc import Iterable
from contextlib import suppress

from holdfast.files import lock
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

STALE_SECONDS = 3600.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
_NO_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


class PhantomCheckpoint(HoldfastError):
    """We wrote a checkpoint and could not read the same thing back."""

    exit_code = 4
    hint = "check free disk space; the previous checkpoint is untouched"


def put_new(folder: int, data: bytes, names: Iterable[str]) -> str:
    """Write the data under the first free name and read it back. Nothing is overwritten. A new name
    survives a power cut only after its folder is flushed: `flush`, once, after the last file."""
    # Same folder on purpose: a rename across filesystems is a copy, and a copy can tear.
    draft = places.draft_name()
    fd = os.open(draft, _NEW, 0o600, dir_fd=folder)
    try:
        lock.acquire(fd)  # a locked draft is in use: `clear_left` leaves it alone
        places.write_all(fd, data)
        places.flush_to_disk(fd)
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
    """Replace a file; readers see the old or the new contents, whole. `flushed`: it cannot be made
    again (the caller calls `flush` too). `proven`: read the draft back first."""

    def prove(draft: str) -> None:
        _prove(folder, draft, data)

    check = prove if proven else None
    places.replace_whole(name, data, flush=flushed, folder=folder, check=check)


def clear_left(folder: int) -> list[str]:
    """Remove drafts whose writer is gone: unlocked, its pid dead or the draft an hour old."""
    gone = []
    for name in os.listdir(folder):
        if is_draft(name) and _is_abandoned(folder, name):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
                gone.append(name)
    return gone


def is_draft(name: str) -> bool:
    """Whether a name is one of our drafts: `.<pid>-<time>.draft`."""
    pid, dash, moment = name.removeprefix(".").removesuffix(".draft").partition("-")
    ours = name.startswith(".") and name.endswith(".draft") and bool(dash) and pid.isdecimal()
    return ours and bool(moment) and not moment.strip("0123456789abcdef")


def is_left_draft(name: str) -> bool:
    """Whether a name is that of a draft of ours whose writer is gone."""
    return is_draft(name) and not _alive(name[1:].partition("-")[0])


def _prove(folder: int, draft: str, data: bytes) -> None:
    """Compare the draft with the data; cached pages are dropped, so that the disk is read."""
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
    """Name the draft by a hard link, which never overwrites; without links by check and rename."""
    try:
        os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if name in os.listdir(folder):
            raise FileExistsError(errno.EEXIST, name) from None
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def flush(folder: int) -> None:
    try:
        places.flush_to_disk(folder)
    except OSError as error:
        if error.errno not in _NO_FLUSH:  # some filesystems cannot flush a folder, and need not
            raise


def _is_abandoned(folder: int, name: str) -> bool:
    try:
        # O_NONBLOCK: opening a pipe of this name would otherwise wait for its writer.
        fd = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
        )
    except OSError:
        return False
    try:
        if not places.is_regular(fd) or not lock.acquire(fd):
            return False
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
