"""Which checkpoints this machine made: a list of their content hashes under HOLDFAST_HOME.

A repository can hold a checkpoint that verifies, made by anyone. What Holdfast does by itself
(offer one at the start of a session, remove old ones) it does only with those in this list;
`rebuild` makes the index again from the files and never adds to the list.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.files import folders
from holdfast.wire import places

NAME = "made.txt"
LARGEST_BYTES = 16 << 20  # 250,000 checkpoints; a project keeps 50


def path() -> str:
    return f"{folders.root()}/{NAME}"


def record(content_hash: str) -> str:
    """Record on disk that this machine makes this checkpoint, before the file gets its name. Return
    why nothing could be recorded, or an empty text: a checkpoint matters more than its record."""
    try:
        with folders.enter(folders.home_folder()):  # makes it, and refuses a link in its place
            places.append(path(), f"{content_hash}\n".encode())
        fd = places.open_regular(path())
        try:
            places.flush_to_disk(fd)
        finally:
            os.close(fd)
    except OSError as error:
        return f"not noted as made on this machine: {error.strerror or error}"
    return ""


def own_entries(entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    """Return the entries of checkpoints made on this machine."""
    noted = hashes() or ()
    return [entry for entry in entries if entry.content_hash in noted]


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
    """Return the recorded hashes; None without a list."""
    if not os.path.lexists(path()):
        return None
    return frozenset(places.read_small(path(), LARGEST_BYTES).decode("ascii", "replace").split())
