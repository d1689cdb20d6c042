"""Where our files live: everything under HOLDFAST_HOME, one folder per window, owner-only."""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FOREIGN = "not made by Holdfast on this machine"  # any file outside our folder, whatever it says
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def home() -> str:
    """HOLDFAST_HOME, else ~/.holdfast: never `/` or the project, whatever HOME says."""
    given = os.environ.get("HOLDFAST_HOME")
    return given or os.path.join(user_home(), ".holdfast")


def user_home() -> str:
    given = os.environ.get("HOME", "")
    if given.startswith("/"):
        return os.path.expanduser("~")
    try:
        import pwd  # only then: it is a file to load

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # a user without an entry
        return os.path.expanduser("~")


def protect_home() -> None:
    """Make our folder the owner's alone: what others can write there would be restored as ours.
    A folder that cannot be changed (another's, shared like /tmp, of Windows) is refused."""
    folder = home()
    try:
        found = os.stat(folder)
    except (OSError, ValueError):
        return  # what makes it makes it owner-only
    mode = found.st_mode
    if mode & 0o170000 != 0o040000 or not mode & 0o077:
        return
    if found.st_uid == os.geteuid() and not mode & 0o1000:
        try:
            os.chmod(folder, 0o700)
        except OSError as error:
            if error.errno == 30:  # EROFS: on a read-only disk nobody can write into it
                return
            raise
    if os.stat(folder).st_mode & 0o077:
        raise OSError(f"{folder} is open to others; name a folder of your own in HOLDFAST_HOME")
    from holdfast.wire import log

    log.add("WARN", "home", f"{folder} was open to others (mode {mode & 0o777:o}); now it is not")


def plain(name: str) -> str:
    """A file name that cannot leave its folder: odd ids become hex, long ones are hashed."""
    if name and len(name) <= 80 and name[0] != "." and _PLAIN.issuperset(name):
        return name
    data = name.encode("utf-8", "surrogatepass")
    if len(data) <= 50:
        return "%" + data.hex()
    from zlib import crc32

    return f"%{data[:50].hex()}-{len(data)}-{crc32(data):08x}"


def windows() -> str:
    return os.path.join(home(), "windows")


def window(session_id: str, agent_id: str = "") -> str:
    """The folder of one window: a subagent's is beside its parent's, never inside it."""
    leaf = "agent-" + plain(agent_id) if agent_id else "main"
    return os.path.join(windows(), plain(session_id), leaf)


def linked_folder(folder: str) -> str:
    """The link among `windows`, a window's folder and those between them; empty if there is none.
    Nothing is written or removed through it, just as through a link in place of a file."""
    root = windows()
    if folder != root and not folder.startswith(f"{root}/"):
        return ""
    while len(folder) >= len(root):
        if os.path.islink(folder):
            return folder
        folder = os.path.dirname(folder)
    return ""


def refuse_linked(folder: str) -> None:
    if linked := linked_folder(folder):
        raise OSError(f"{linked} is a link, and Holdfast writes through none; make it a folder")


def make_folder(folder: str) -> None:
    """Make a folder and those above it, for the owner only."""
    refuse_linked(folder)
    os.makedirs(folder, 0o700, exist_ok=True)


def close_window(folder: str) -> None:
    """Mark a window as ended, if it was ever opened."""
    try:
        refuse_linked(folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(os.path.join(folder, "ended"), flags, 0o600))
    except OSError:
        pass


def is_closed(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "ended"))


def _stat(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def modified_ms(path: str) -> int:
    """When a file was last written; 0 if it is missing."""
    found = _stat(path)
    return found.st_mtime_ns // 1_000_000 if found else 0


def size_of(path: str | os.PathLike[str]) -> int:
    """How many bytes a file has; 0 if it is missing."""
    found = _stat(path)
    return found.st_size if found else 0


def changed_ns(path: str) -> int:
    """When a file was last written, renamed or copied into place (of its inode); 0 if missing."""
    found = _stat(path)
    return found.st_ctime_ns if found else 0


def runs_subtasks(folder: str) -> bool:
    """Whether subtasks run, by the beginning of the projection. If it does not say so, they do."""
    start = read_small(os.path.join(folder, "work.json"), 128)
    return bool(start) and not start.startswith(b'{"running_subtasks": 0,')


def has_outbox(folder: str) -> bool:
    """Whether a message waits: the file exists only while one does."""
    return os.path.exists(os.path.join(folder, "outbox.json"))


def transcript(main_path: str, agent_id: str = "") -> str:
    """The transcript of a window. A subagent's payload names its parent's; its own is beside it."""
    if not agent_id:
        return main_path
    stem = main_path[:-6] if main_path.endswith(".jsonl") else main_path
    return os.path.join(stem, "subagents", "agent-" + plain(agent_id) + ".jsonl")


def open_regular(path: str | os.PathLike[str]) -> int:
    """Open a regular file to read. Anything else is an OSError: a FIFO or a device may hang."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if is_regular(fd):
        return fd
    os.close(fd)
    raise OSError(22, "it is not a regular file", os.fspath(path))


def read_small(path: str, limit: int = 65536) -> bytes:
    """A small regular file, whole; empty if it cannot be read. No more is allocated."""
    try:
        fd = open_regular(path)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, min(limit, os.fstat(fd).st_size))
    except OSError:
        return b""
    finally:
        os.close(fd)


def resolve_inside(root: str, inside: str) -> str:
    """The real path of something in a repository's folder; empty if a link leads out of it."""
    try:
        base = os.path.realpath(root).rstrip("/")
        real = os.path.realpath(f"{base}/{inside}")
    except (OSError, ValueError):
        return ""
    return real if real.startswith(f"{base}/") else ""


def is_regular(fd: int) -> bool:
    """Whether it is no folder, pipe or device: reading those would hang or never end."""
    return os.fstat(fd).st_mode & 0o170000 == 0o100000


def replace_whole(
    path: str,
    data: bytes,
    flush: bool = False,
    folder: int | None = None,
    check: Callable[[str], None] | None = None,
) -> None:
    """Replace a file. Every reader sees the old or the new contents, whole; a failure leaves the
    old file and no draft. `flush` writes the data to the disk first, so that it survives a power
    cut. With `folder`, the path is relative to that open folder. `check` may reject the draft."""
    if folder is None:
        refuse_linked(os.path.dirname(path))
    draft = os.path.join(os.path.dirname(path), draft_name())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(draft, flags, 0o600, dir_fd=folder)
    try:
        write_all(fd, data)
        if flush:
            flush_to_disk(fd)
        if check is not None:
            check(draft)
        os.replace(draft, path, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(draft, dir_fd=folder)  # drafts left on a full disk would keep it full
        raise
    finally:
        os.close(fd)


def flush_to_disk(fd: int) -> None:
    """Write a file to the disk itself. On macOS `fsync` leaves data in the drive's memory, which
    a power cut empties; a network share does not know the stronger flush."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
        except OSError:
            pass
    os.fsync(fd)


def draft_name() -> str:
    """A new name for a draft: it states the process that writes it."""
    return f".{os.getpid()}-{time.monotonic_ns():x}.draft"


def write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def append(path: str, line: bytes) -> int:
    """Append one line with one write; returns the length of the file after it. A pipe, a device or
    a link is an error, and so is a line that a full disk cuts short: the next append marks and ends
    it, so that no reader takes it for whole."""
    refuse_linked(os.path.dirname(path))
    fd = _open_to_append(path)
    try:
        found = os.fstat(fd)
        if found.st_mode & 0o170000 != 0o100000:
            raise OSError(f"{path} is not a plain file")
        size = found.st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            line = b"?\n" + line
        if os.write(fd, line) < len(line):
            raise OSError(f"{path}: the disk is full")
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def _open_to_append(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        return os.open(path, flags, 0o600)


def move_aside(path: str, most_bytes: int) -> None:
    """A file longer than this becomes `path.1`, once: of two that want to, one finds it done."""
    import fcntl

    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = os.fstat(fd)
        if held.st_size > most_bytes and os.stat(path).st_ino == held.st_ino:
            os.replace(path, path + ".1")
    finally:
        os.close(fd)
