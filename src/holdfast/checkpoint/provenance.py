"""Which checkpoints this machine made: a list of their content hashes under HOLDFAST_HOME.

A repository can hold a checkpoint that verifies, made by anyone. What Holdfast does by itself
(offer one at the start of a session, remove old ones) it does only with those in this list;
`rebuild` makes the index again from the files and never adds to the list.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from holdfast.checkpoint import snapshot
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.files import folders
from holdfast.wire import places

NAME = "made.txt"
LARGEST_BYTES = 4 << 20  # the newest 64,000 checkpoints; a project keeps 50


def path() -> str:
    return f"{folders.root()}/{NAME}"


def record(content_hash: str, known: Callable[[], Iterable[CheckpointEntry]]) -> str:
    """Record on disk that this machine makes this checkpoint, before the file gets its name.

    The first record includes what earlier releases made, found by their snapshots. Returns why
    nothing could be recorded, or an empty text: a checkpoint matters more than its record.
    """
    earlier = [one.content_hash for one in _with_snapshot(known())] if hashes() is None else []
    lines = "".join(f"{one}\n" for one in [*earlier, content_hash])
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with folders.enter(folders.home_folder()) as folder:
            fd = os.open(NAME, flags, 0o600, dir_fd=folder)
        try:
            # its own line, also after one that was cut short
            places.write_all(fd, f"\n{lines}".encode())
            places.flush_to_disk(fd)
        finally:
            os.close(fd)
    except OSError as error:
        return f"not noted as made on this machine: {error.strerror}"
    return ""


def own_entries(entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    """Return the entries of checkpoints made on this machine."""
    noted = hashes()
    if noted is None:
        return _with_snapshot(entries)
    return [one for one in entries if one.content_hash in noted]


def is_own(entry: CheckpointEntry) -> bool:
    return bool(own_entries([entry]))


def why_not_own(entry: CheckpointEntry) -> str:
    """Say why a checkpoint does not count as made on this machine; empty if it does."""
    if is_own(entry):
        return ""
    if hashes() is None:
        return "who made it is unknown: Holdfast's list of its own checkpoints is missing"
    return "not made on this machine"


def hashes() -> frozenset[str] | None:
    """Return the recorded hashes; None if nothing was ever recorded, as before the first
    checkpoint of this release."""
    try:
        fd = os.open(path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not places.is_regular(fd):
            return frozenset()
        start = max(0, os.fstat(fd).st_size - LARGEST_BYTES)
        data = os.pread(fd, LARGEST_BYTES, start)
        return frozenset(data.decode("ascii", "replace").split())
    except OSError:
        return frozenset()
    finally:
        os.close(fd)


def _with_snapshot(entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    """Return entries that have a snapshot on this machine: saving a checkpoint writes one, and
    one that `rebuild` made is marked. Each folder is listed once, which is enough for most of
    1,000 entries."""
    listed: dict[str, set[str]] = {}
    found = []
    for one in entries:
        if one.project not in listed:
            listed[one.project] = snapshot.names(one.project)
        if one.id in listed[one.project]:
            found += [] if snapshot.load(one.project, one.id).get("rebuilt") else [one]
    return found
