"""Rebuild everything that can be made from the files: index, list of projects, snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from holdfast.checkpoint import checkpoint_file, index, provenance, snapshot
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.errors import CheckpointNotSaved, DamagedCheckpoint
from holdfast.checkpoint.verify import VerifyReport, verify
from holdfast.files import folders, lock


class RebuiltIndex(msgspec.Struct, frozen=True):
    entries: list[CheckpointEntry]
    damaged: list[VerifyReport]  # files with a final name that do not verify
    added: list[str]  # paths that were not in the index
    dropped: list[str]  # paths in the index whose file is gone
    snapshots: list[str]  # ids whose snapshot was made again
    projects: list[str]
    foreign: list[str]  # paths of those that this machine did not make


def rebuild(also: Iterable[str] = ()) -> RebuiltIndex:
    """Read every checkpoint of every known or given project, and write a new index."""
    with lock.hold(folders.home_folder(), patience=10.0) as ours:
        if not ours:
            raise CheckpointNotSaved(f"the index in {folders.root()} is busy or cannot be written")
        before = set[str]()
        with suppress(index.BrokenIndex):
            before = {one.path for one in index.load()}
        reports = [verify(path) for path in index.files_of(index.all_projects(also), before)]
        entries = [one.entry for one in reports if one.entry is not None]
        index.save(entries)
    after = {one.path for one in entries}
    own = {one.path for one in provenance.own_entries(entries)}
    return RebuiltIndex(
        entries,
        damaged=[one for one in reports if not one.ok],
        added=sorted(after - before),
        dropped=sorted(before - after),
        snapshots=[one.id for one in entries if one.verified and _snapshot_made(one)],
        projects=sorted({one.project for one in entries}),
        foreign=sorted(after - own),
    )


def _snapshot_made(entry: CheckpointEntry) -> bool:
    if not snapshot.is_lost(entry.project, entry.id):
        return False
    try:
        document = checkpoint_file.read(entry.path).document
        values = snapshot.complete(document, entry.id, entry.path)
        values |= {**snapshot.from_sections(document), "made_here": provenance.is_own(entry)}
        snapshot.save(entry.project, entry.id, values)
    except (OSError, DamagedCheckpoint):
        return False
    return True
