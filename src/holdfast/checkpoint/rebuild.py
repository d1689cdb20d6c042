"""Rebuild everything that can be made from the files: index, list of projects, snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from holdfast.checkpoint import checkpoint_file, index, provenance, snapshot
from holdfast.checkpoint.entry import CheckpointEntry, from_file, readable_in
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
        projects = sorted({*index.projects(), *(folders.resolve(one) for one in also)})
        entries, damaged = _read(projects, before)
        projects = [one for one in projects if one in {entry.project for entry in entries}]
        index.save(entries)
    after = {one.path for one in entries}
    made = [one.id for one in entries if one.verified and _snapshot_made(one)]
    added, dropped = sorted(after - before), sorted(before - after)
    own = {one.path for one in provenance.own_entries(entries)}
    foreign = sorted(after - own)
    return RebuiltIndex(entries, damaged, added, dropped, made, projects, foreign)


def _read(
    projects: list[str], known: Iterable[str]
) -> tuple[list[CheckpointEntry], list[VerifyReport]]:
    entries, damaged = [], []
    places = [folder for one in projects for folder in folders.readable(one)]
    for path in dict.fromkeys(readable_in(places, known)):
        report = verify(path)
        if not report.ok:
            damaged.append(report)
        try:
            entries.append(from_file(path))
        except DamagedCheckpoint:
            continue
    return entries, damaged


def _snapshot_made(entry: CheckpointEntry) -> bool:
    if not snapshot.is_lost(entry.project, entry.id):
        return False
    try:
        document = checkpoint_file.parse(checkpoint_file.load(entry.path)).document
        values = snapshot.complete(document, entry.id, entry.path)
        values |= {**snapshot.from_sections(document), "made_here": provenance.is_own(entry)}
        snapshot.save(entry.project, entry.id, values)
    except (OSError, DamagedCheckpoint):
        return False
    return True
