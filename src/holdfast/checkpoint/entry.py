"""One line of the index: what a checkpoint states about itself, without its content."""

import json
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import asdict, replace

from holdfast.checkpoint import checkpoint_file
from holdfast.checkpoint.checkpoint_file import REQUIRED, SAME, DamagedCheckpoint
from holdfast.files.folders import names_in
from holdfast.text import timestamps
from holdfast.text.timestamps import id_of, number
from holdfast.wire import places

NEWEST_READ = 400  # a hostile repository may contain any number of files ...
NEWEST_READ_BYTES = 4 << 20  # ... of any size; 400 of ours have 4 MB


class CheckpointFinding(msgspec.Struct, frozen=True):
    part: str  # file, front matter, sections, content hash, index
    words: str


class CheckpointEntry(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    id: str
    path: str
    project: str
    created: str
    trigger: str
    verified: bool
    iteration: int
    summary: str
    session_id: str
    agent_id: str
    parent: str
    content_hash: str
    state_hash: str

    @property
    def rank(self) -> tuple[str, int]:
        """A later checkpoint has a greater rank, as far as clocks can be trusted."""
        return self.created, number(self.id)

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    def line(self) -> str:
        # Unlike msgspec, json can write a path that is not UTF-8.
        return json.dumps(asdict(self), separators=(",", ":"))


def from_file(path: str) -> CheckpointEntry:
    """Read the entry from the file itself; DamagedCheckpoint if it is unreadable."""
    return from_parsed(path, checkpoint_file.read(path))


def from_parsed(path: str, checkpoint: checkpoint_file.ParsedCheckpoint) -> CheckpointEntry:
    document = checkpoint.document
    same = {name: getattr(document, name) for name in SAME}
    return CheckpointEntry(
        id=id_of(path.rpartition("/")[2]),
        path=path,
        created=timestamps.to_iso(document.created),
        verified=not [*find_faults(path, checkpoint)],
        content_hash=checkpoint.content_hash,
        **same,
    )


def find_faults(
    path: str, checkpoint: checkpoint_file.ParsedCheckpoint
) -> Iterator[CheckpointFinding]:
    document, name = checkpoint.document, path.rpartition("/")[2]
    if not id_of(name):
        yield CheckpointFinding("file", f"{name} is not the name of a checkpoint")
    elif not name.startswith(timestamps.stamp(document.created)):
        made = timestamps.to_iso(document.created)
        yield CheckpointFinding("file", f"named {name}, made at {made}")
    for section in REQUIRED:
        if section not in document.sections:
            yield CheckpointFinding("sections", f"no section {section!r}")
    if not document.is_complete:
        words = "the transcript was not read to its end when this was saved"
        yield CheckpointFinding("front matter", words)
    if not checkpoint.whole:
        words = "the content is not what was saved; it was changed afterwards"
        yield CheckpointFinding("content hash", words)


def files_in(folder: str) -> list[str]:
    """List files with a final name, newest first."""
    names = [name for name in names_in(folder) if id_of(name)]
    names.sort(key=lambda name: (name[:17], number(id_of(name))), reverse=True)
    return [f"{folder}/{name}" for name in names]


def readable_in(folders: Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """List the files worth opening: known ones, and the newest others within the limits."""
    ours, found = set(known), []
    for folder in folders:
        paths = files_in(folder)
        found += [path for path in paths if path in ours]
        left = NEWEST_READ_BYTES
        for path in [path for path in paths if path not in ours][:NEWEST_READ]:
            left -= places.size_of(path)
            found += [path] if left >= 0 else []
    return found


def reconcile(
    entries: Iterable[CheckpointEntry], folders: Sequence[str], new: str = ""
) -> list[CheckpointEntry]:
    """Read the entries of these folders again from their files; others stay. A `new` file is ours,
    though no entry names it yet. Of a damaged file its entry stays, not verified."""
    known = {entry.path: entry for entry in entries}
    kept = [one for one in known.values() if one.folder not in folders]
    for path in dict.fromkeys(readable_in(folders, {new, *known})):
        try:
            kept.append(from_file(path))
        except DamagedCheckpoint:
            kept += [replace(known[path], verified=False)] if path in known else []
    return kept


def newest_of(
    entries: Iterable[CheckpointEntry], session_id: str, agent_id: str
) -> CheckpointEntry | None:
    """Return the last entry of one window by its own count, which no clock changes."""
    same = [
        entry for entry in entries if (entry.session_id, entry.agent_id) == (session_id, agent_id)
    ]
    return max(same, key=lambda one: (one.iteration, *one.rank), default=None)
