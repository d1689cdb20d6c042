"""The global index: what can be told about all checkpoints without opening them.

It is only an index: the files are the truth. It is replaced as a whole under a lock, every entry is
read from its file, and a broken or deleted index is made again from the folders that the snapshots
name.

Each line is one entry.

Beside it, `made.txt` lists the content hashes of the checkpoints that this machine made. A
repository can hold a checkpoint that verifies, made by anyone. What Holdfast does by itself (offer
one at the start of a session, remove old ones) it does only with those in this list; `rebuild`
makes the index again from the files and never adds to the list.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import asdict, replace

from holdfast.checkpoint import checkpoint_file
from holdfast.checkpoint.checkpoint_file import REQUIRED, SAME, DamagedCheckpoint, id_of, number
from holdfast.files import atomic, folders, lock
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

VERSION = "1.0"
LARGEST_BYTES = 16 << 20  # of each; 250,000 hashes
NAME, OWN_NAME = "index.json", "made.txt"
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
        created=checkpoint_file.to_iso(document.created),
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
    elif not name.startswith(checkpoint_file.stamp(document.created)):
        moment = checkpoint_file.to_iso(document.created)
        yield CheckpointFinding("file", f"named {name}, made at {moment}")
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
    names = [name for name in folders.names_in(folder) if id_of(name)]
    names.sort(key=lambda name: (name[:17], number(id_of(name))), reverse=True)
    return [f"{folder}/{name}" for name in names]


def readable_in(inside: Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """List the files worth opening: known ones, and the newest others within the limits."""
    ours, files = set(known), []
    for folder in inside:
        paths = files_in(folder)
        files += [path for path in paths if path in ours]
        left = NEWEST_READ_BYTES
        for path in [path for path in paths if path not in ours][:NEWEST_READ]:
            left -= places.size_of(path)
            files += [path] if left >= 0 else []
    return files


def reconcile(
    entries: Iterable[CheckpointEntry], inside: Sequence[str], new: str = ""
) -> list[CheckpointEntry]:
    """Read the entries of these folders again from their files; others stay. A `new` file is ours,
    though no entry names it yet. Of a damaged file its entry stays, not verified."""
    known = {entry.path: entry for entry in entries}
    kept = [entry for entry in known.values() if entry.folder not in inside]
    for path in dict.fromkeys(readable_in(inside, {new, *known})):
        try:
            kept.append(from_file(path))
        except DamagedCheckpoint:
            kept += [replace(known[path], verified=False)] if path in known else []
    return kept


def newest_of(
    entries: Iterable[CheckpointEntry], session_id: str, agent_id: str
) -> CheckpointEntry | None:
    """Return the last entry of one window by its own count, which no clock changes."""
    same = [row for row in entries if (row.session_id, row.agent_id) == (session_id, agent_id)]
    return max(same, key=lambda entry: (entry.iteration, *entry.rank), default=None)


class BrokenIndex(Exception):
    """The index is missing or not ours; it has to be rebuilt."""


class NewerCheckpointIndex(HoldfastError):
    """A newer Holdfast wrote the index, so it is not overwritten."""

    hint = "upgrade Holdfast; checkpoints themselves can still be named by file"


def path() -> str:
    return f"{folders.root()}/{NAME}"


def load() -> list[CheckpointEntry]:
    """Load every entry; BrokenIndex if the index has to be rebuilt."""
    if not places.size_of(path()):
        raise BrokenIndex("there is none")
    value = _read(NAME)
    version = str(value.get("version", ""))
    major = version.partition(".")[0]
    if major.isdecimal() and major.lstrip("0") not in ("", "1"):
        raise NewerCheckpointIndex(f"{path()} has version {version}, written by a newer Holdfast")
    rows = value.get("checkpoints")
    if version != VERSION or not isinstance(rows, list):
        raise BrokenIndex(f"not an index of version {VERSION}")
    try:
        entries = msgspec.convert(rows, list[CheckpointEntry])
        for entry in entries:
            checkpoint_file.from_iso(entry.created)
    except (msgspec.ValidationError, ValueError) as error:
        raise BrokenIndex(str(error)) from None
    return entries


def load_or_empty() -> list[CheckpointEntry]:
    try:
        return load()
    except (BrokenIndex, NewerCheckpointIndex):
        return []


def why_missing() -> str:
    try:
        load()
    except NewerCheckpointIndex as error:
        return f"{error}: {error.hint}"
    except BrokenIndex:
        pass
    return "not in the index; `holdfast rebuild` adds it"


def of_project(project: str, *, foreign: bool = False) -> list[CheckpointEntry]:
    """Return a project's checkpoints as its folders have them now, oldest first; nothing is
    written.

    Without `foreign`, only those made on this machine: anyone may have put a file into a
    repository. A project that was moved keeps the checkpoints inside it.
    """
    project = folders.resolve(project)
    inside = folders.readable(project)
    entries = [row for row in load_or_empty() if project == row.project or row.folder in inside]
    entries = reconcile(entries, inside)
    return sorted(entries if foreign else own_entries(entries), key=lambda entry: entry.rank)


def refresh(project: str, new: str = "", patience: float = lock.PATIENCE_SECONDS) -> list[str]:
    """Bring one project's entries in line with its files; return what went wrong, in words. An
    entry for the path of a `new` file belongs to a removed file and is ignored."""
    project = folders.resolve(project)
    with lock.hold(folders.home_folder(), patience) as ours:
        if not ours:
            return ["the index is busy or cannot be written; the next checkpoint repairs it"]
        try:
            with folders.enter(folders.home_folder()) as folder:
                atomic.clear_left(folder)
            entries, errors = _load_or_rebuild()
            entries = [entry for entry in entries if entry.path != new]
            save(reconcile(entries, folders.readable(project), new))
        except (OSError, NewerCheckpointIndex) as error:
            return [f"the index was not written: {error}"]
        return errors


def _load_or_rebuild() -> tuple[list[CheckpointEntry], list[str]]:
    try:
        return load(), []
    except BrokenIndex as error:
        entries = reconcile([], [path for name in projects() for path in folders.readable(name)])
        fresh = len(entries) < 2 and str(error) == "there is none"
        return entries, [] if fresh else [f"the index was made again from the files: {error}"]


def save(entries: Iterable[CheckpointEntry]) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    head = f'{{"version": "{VERSION}", "last_updated": "{now}", "checkpoints": [\n'
    lines = ",\n".join(
        entry.line() for entry in sorted(entries, key=lambda entry: (entry.rank, entry.path))
    )
    with folders.enter(folders.home_folder()) as folder:
        atomic.replace_whole(folder, NAME, f"{head}{lines}\n]}}\n".encode())


def projects() -> list[str]:
    return sorted({entry.project for entry in load_or_empty()} | _by_snapshots())


def known_files(also: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the files of known or given projects that are worth opening."""
    names = sorted({*projects(), *(folders.resolve(path) for path in also)})
    inside = [folder for name in names for folder in folders.readable(name)]
    return list(dict.fromkeys(readable_in(inside, known)))


def _by_snapshots() -> set[str]:
    names = set()
    for key in folders.names_in(folders.root()):
        snapshots = [
            name for name in folders.names_in(f"{folders.root()}/{key}") if name.endswith(".json")
        ]
        if snapshots:
            project = _read(f"{key}/{max(snapshots)}").get("project")
            names |= {project} if isinstance(project, str) else set()
    return names


def _read(name: str) -> dict[str, object]:
    try:
        value = json.loads(places.read_small(f"{folders.root()}/{name}", LARGEST_BYTES))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def own_path() -> str:
    return f"{folders.root()}/{OWN_NAME}"


def record_own(content_hash: str) -> str:
    """Record on disk that this machine makes this checkpoint, before the file gets its name. Return
    why nothing could be recorded, or an empty text: a checkpoint matters more than its record."""
    try:
        with folders.enter(folders.home_folder()):  # makes it, and refuses a link in its place
            places.append(own_path(), f"{content_hash}\n".encode())
        fd = places.open_regular(own_path())
        try:
            places.flush_to_disk(fd)
        finally:
            os.close(fd)
    except OSError as error:
        return f"not noted as made on this machine: {error.strerror or error}"
    return ""


def own_entries(entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    noted = own_hashes() or ()
    return [entry for entry in entries if entry.content_hash in noted]


def is_own(entry: CheckpointEntry) -> bool:
    return bool(own_entries([entry]))


def why_not_own(entry: CheckpointEntry) -> str:
    """Say why a checkpoint does not count as made on this machine; empty if it does."""
    if is_own(entry):
        return ""
    if own_hashes() is None:
        return "who made it is unknown: Holdfast's list of its own checkpoints is missing"
    return "not made on this machine"


def own_hashes() -> frozenset[str] | None:
    """Return the recorded hashes; None without a list."""
    if not os.path.lexists(own_path()):
        return None
    return frozenset(
        places.read_small(own_path(), LARGEST_BYTES).decode("ascii", "replace").split()
    )
