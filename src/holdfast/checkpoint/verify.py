"""Check that a checkpoint is what was saved: file, front matter, required sections, content hash,
index entry.

A complete file without an entry in the index is not damaged: the index can be rebuilt from the
files. That, and who made the file, are notes beside the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from holdfast.checkpoint import checkpoint_file, index, provenance
from holdfast.checkpoint.document import REQUIRED, Document
from holdfast.checkpoint.entry import CheckpointEntry, from_file, readable_in
from holdfast.checkpoint.errors import DamagedCheckpoint
from holdfast.files import folders
from holdfast.text import timestamps


class CheckpointFinding(msgspec.Struct, frozen=True):
    part: str  # file, front matter, sections, content hash, index
    words: str


class VerifyReport(msgspec.Struct, frozen=True):
    path: str
    findings: tuple[CheckpointFinding, ...]
    document: Document | None = None
    content_hash: str = ""
    notes: tuple[str, ...] = ()  # not damage, but worth knowing: not in the index, not made here

    @property
    def ok(self) -> bool:
        return not self.findings


def verify(path: str, entries: Iterable[CheckpointEntry] | None = None) -> VerifyReport:
    """Return everything that is wrong with a checkpoint, in words; its entry is checked too if
    entries are given."""
    try:
        found = checkpoint_file.parse(checkpoint_file.load(path))
    except DamagedCheckpoint as error:
        return VerifyReport(
            path, (CheckpointFinding(error.part, f"{error.words}{_way_out(error, entries)}"),)
        )
    findings = [*_form(path, found.document)]
    if not found.document.is_complete:
        words = "the transcript was not read to its end when this was saved"
        findings.append(CheckpointFinding("front matter", words))
    if not found.whole:
        words = "the content is not what was saved; it was changed afterwards"
        findings.append(CheckpointFinding("content hash", words))
    notes: tuple[str, ...] = ()
    if entries is not None:
        row = next((one for one in entries if one.path == path), None)
        if row is not None and row.content_hash != found.content_hash:
            words = "the entry has another hash: the file was replaced"
            findings.append(CheckpointFinding("index", words))
        missing = "not in the index; `holdfast rebuild` adds it"
        told = "" if row is not None else index.newer_version_error() or missing
        notes = tuple(filter(None, (told, provenance.why_not_own(from_file(path)))))
    return VerifyReport(path, tuple(findings), found.document, found.content_hash, notes)


def verify_entry(entry: CheckpointEntry, entries: Iterable[CheckpointEntry]) -> CheckpointEntry:
    """Return the entry with the result of a check now: the index does not know what happened to the
    file since."""
    same = [one for one in entries if one.path == entry.path]
    return replace(entry, verified=verify(entry.path, same or None).ok)


def verify_projects(also: Iterable[str] = ()) -> list[VerifyReport]:
    """Check every file of every known or given project (without an index, only the caller can name
    one), and every entry whose file is gone."""
    entries = index.load_or_empty()
    known = [one.path for one in entries]
    projects = sorted({*index.projects(), *(folders.resolve(one) for one in also)})
    places = [folder for one in projects for folder in folders.readable(one)]
    return [verify(path, entries) for path in dict.fromkeys([*readable_in(places, known), *known])]


def _way_out(error: DamagedCheckpoint, entries: Iterable[CheckpointEntry] | None) -> str:
    """Return the next thing to try. A file that was deleted by hand is no loss: only its entry is
    left over."""
    gone = error.words == checkpoint_file.GONE and entries is not None
    return "; if you deleted it, `holdfast rebuild` forgets it" if gone else ""


def _form(path: str, document: Document) -> Iterator[CheckpointFinding]:
    name = path.rpartition("/")[2]
    if not timestamps.id_of(name):
        yield CheckpointFinding("file", f"{name} is not the name of a checkpoint")
    elif not name.startswith(timestamps.stamp(document.created)):
        made = timestamps.to_iso(document.created)
        yield CheckpointFinding("file", f"named {name}, made at {made}")
    for section in REQUIRED:
        if section not in document.sections:
            yield CheckpointFinding("sections", f"no section {section!r}")
