"""Rebuild the index and the list of projects from the files."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from holdfast.checkpoint import index, provenance
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.errors import CheckpointNotSaved
from holdfast.checkpoint.verify import VerifyReport, verify
from holdfast.files import folders, lock


class RebuiltIndex(msgspec.Struct, frozen=True):
    entries: list[CheckpointEntry]
    damaged: list[VerifyReport]  # files with a final name that do not verify
    added: list[str]  # paths that were not in the index
    dropped: list[str]  # paths in the index whose file is gone
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
        reports = [verify(path) for path in index.known_files(also, before)]
        entries = [report.entry for report in reports if report.entry is not None]
        index.save(entries)
    after = {entry.path for entry in entries}
    own = {entry.path for entry in provenance.own_entries(entries)}
    return RebuiltIndex(
        entries,
        damaged=[report for report in reports if not report.ok],
        added=sorted(after - before),
        dropped=sorted(before - after),
        projects=sorted({entry.project for entry in entries}),
        foreign=sorted(after - own),
    )
