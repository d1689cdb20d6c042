"""Check that a checkpoint is what was saved: file, front matter, required sections, content hash,
index entry. And rebuild the index from the files.

A complete file without an entry in the index is not damaged: the index can be rebuilt from the
files. That, and who made the file, are notes beside the verdict.
"""

from collections.abc import Iterable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from holdfast.checkpoint import checkpoint_file, index
from holdfast.checkpoint.checkpoint_file import CheckpointNotSaved, DamagedCheckpoint, Document
from holdfast.checkpoint.index import CheckpointEntry, CheckpointFinding, find_faults, from_parsed
from holdfast.files import folders, lock


class VerifyReport(msgspec.Struct, frozen=True):
    path: str
    findings: tuple[CheckpointFinding, ...]
    document: Document | None = None
    content_hash: str = ""
    notes: tuple[str, ...] = ()  # not damage, but worth knowing: not in the index, not made here
    entry: CheckpointEntry | None = None  # as the file states it

    @property
    def ok(self) -> bool:
        return not self.findings


def verify(path: str, entries: Iterable[CheckpointEntry] | None = None) -> VerifyReport:
    """Return what is wrong with a checkpoint, and with its entry if entries are given."""
    try:
        file = checkpoint_file.read(path)
    except DamagedCheckpoint as error:
        # A file that was deleted by hand is no loss: only its entry is left over.
        is_left_over = error.words == checkpoint_file.GONE and entries is not None
        way_out = "; if you deleted it, `holdfast rebuild` forgets it" * is_left_over
        return VerifyReport(path, (CheckpointFinding(error.part, f"{error.words}{way_out}"),))
    findings, entry = [*find_faults(path, file)], from_parsed(path, file)
    notes: tuple[str, ...] = ()
    if entries is not None:
        row = next((entry for entry in entries if entry.path == path), None)
        if row is not None and row.content_hash != file.content_hash:
            words = "it has another hash for this file, so the file was replaced"
            findings.append(CheckpointFinding("index", words))
        missing = "" if row is not None else index.why_missing()
        notes = tuple(filter(None, (missing, index.why_not_own(entry))))
    return VerifyReport(path, tuple(findings), file.document, file.content_hash, notes, entry)


def verify_entry(entry: CheckpointEntry, entries: Iterable[CheckpointEntry]) -> CheckpointEntry:
    """Return the entry with the result of a check now."""
    same = [row for row in entries if row.path == entry.path]
    return replace(entry, verified=verify(entry.path, same or None).ok)


def verify_projects(also: Iterable[str] = ()) -> list[VerifyReport]:
    """Check every file of every known or given project, and every entry whose file is gone."""
    entries = index.load_or_empty()
    known = [entry.path for entry in entries]
    paths = [*index.known_files(also, known), *known]
    return [verify(path, entries) for path in dict.fromkeys(paths)]


class RebuiltIndex(msgspec.Struct, frozen=True):
    entries: list[CheckpointEntry]
    damaged: list[VerifyReport]  # files with a final name that do not verify
    added: list[str]  # paths that were not in the index
    dropped: list[str]  # paths in the index whose file is gone
    projects: list[str]
    foreign: list[str]  # paths of those that this machine did not make


def rebuild(also: Iterable[str] = ()) -> RebuiltIndex:
    with lock.hold(folders.home_folder(), patience=10.0) as ours:
        if not ours:
            raise CheckpointNotSaved(f"the index in {folders.root()} is busy or cannot be written")
        before = set[str]()
        with suppress(index.BrokenIndex):
            before = {entry.path for entry in index.load()}
        reports = [verify(path) for path in index.known_files(also, before)]
        entries = [report.entry for report in reports if report.entry is not None]
        index.save(entries)
    after = {entry.path for entry in entries}
    own = {entry.path for entry in index.own_entries(entries)}
    return RebuiltIndex(
        entries,
        damaged=[report for report in reports if not report.ok],
        added=sorted(after - before),
        dropped=sorted(before - after),
        projects=sorted({entry.project for entry in entries}),
        foreign=sorted(after - own),
    )
