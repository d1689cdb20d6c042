"""Where our files live: everything under HOLDFAST_HOME, one folder per window, owner-only."""

from __future__ import annotations

import os

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def home() -> str:
    """HOLDFAST_HOME, else ~/.holdfast; a machine without HOME asks the password file."""
    given = os.environ.get("HOLDFAST_HOME")
    return given or os.path.join(os.path.expanduser("~"), ".holdfast")


def plain(name: str) -> str:
    """A file name that cannot leave its folder: odd ids are spelled in hex."""
    if name and len(name) <= 80 and name[0] != "." and _PLAIN.issuperset(name):
        return name
    return "x" + name.encode("utf-8", "surrogatepass").hex()[:160]


def windows() -> str:
    return os.path.join(home(), "windows")


def window(session_id: str, agent_id: str = "") -> str:
    """The folder of one window: a subagent's is beside its parent's, never inside it."""
    leaf = "agent-" + plain(agent_id) if agent_id else "main"
    return os.path.join(windows(), plain(session_id), leaf)


def close_window(folder: str) -> None:
    """Mark a window as ended, if it was ever opened."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        os.close(os.open(os.path.join(folder, "ended"), flags, 0o600))
    except OSError:
        pass


def is_closed(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "ended"))


def transcript(main_path: str, agent_id: str = "") -> str:
    """A subagent's payload names its parent's transcript; its own lies in a folder beside that."""
    if not agent_id:
        return main_path
    stem = main_path[:-6] if main_path.endswith(".jsonl") else main_path
    return os.path.join(stem, "subagents", "agent-" + plain(agent_id) + ".jsonl")


def read_small(path: str, limit: int = 65536) -> bytes:
    """A small regular file of ours whole, or nothing: a missing one is not news."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, limit)
    except OSError:
        return b""
    finally:
        os.close(fd)
