"""The global index: what can be told about all checkpoints without opening them.

It is only an index: the files are the truth. It is replaced as a whole under a lock, every entry is
read from its file, and a broken or deleted index is made again from the folders that we remember.

Each line is one entry. Saving a checkpoint decodes only the entries of its project and appends its
own: decoding, sorting and encoding a thousand takes as long as half an interpreter start.
"""

import json
import time
from collections.abc import Container, Iterable
from contextlib import suppress

import msgspec

from holdfast.checkpoint import provenance
from holdfast.checkpoint.entry import CheckpointEntry, from_rows, reconcile
from holdfast.checkpoint.errors import NewerCheckpointIndex
from holdfast.files import atomic, folders, lock
from holdfast.text.timestamps import STAMP_CHARS, number
from holdfast.wire import places

VERSION = "1.0"
LARGEST_BYTES = 16 << 20
NAME, PROJECTS = "index.json", "projects.json"
_HEAD, _TAIL = f'{{"version": "{VERSION}"'.encode(), b"\n]}\n"


class _Index(msgspec.Struct):
    version: str
    checkpoints: list[CheckpointEntry]


_last: tuple[bytes, list[CheckpointEntry]] = (
    b"",
    [],
)  # the index as it was read last, and its entries


class BrokenIndex(Exception):
    """The index is missing or not ours; it has to be rebuilt."""


def path() -> str:
    return f"{folders.root()}/{NAME}"


def load() -> list[CheckpointEntry]:
    """Load every entry; BrokenIndex if the index has to be rebuilt."""
    global _last
    data = places.read_small(path(), LARGEST_BYTES)
    if not data:
        raise BrokenIndex("there is none")
    if data == _last[0]:  # one save reads it four times; a hash would take as long as decoding
        return list(_last[1])
    with suppress(msgspec.MsgspecError, UnicodeError):
        quick = msgspec.json.decode(data, type=_Index)  # 10 times json: 1 ms for 1,000 entries
        if quick.version == VERSION:
            _last = data, quick.checkpoints
            return list(quick.checkpoints)
    return _slowly(_read(NAME))


def _slowly(value: dict[str, object]) -> list[CheckpointEntry]:
    """Decode paths that are not UTF-8, and find out what is wrong."""
    version = str(value.get("version", ""))
    major = version.partition(".")[0]
    if major.isdecimal() and major.lstrip("0") not in ("", "1"):
        raise NewerCheckpointIndex(f"{path()} has version {version}, written by a newer Holdfast")
    rows = value.get("checkpoints")
    if version != VERSION or not isinstance(rows, list):
        raise BrokenIndex(f"not an index of version {VERSION}")
    try:
        return from_rows(rows)
    except msgspec.ValidationError as error:
        raise BrokenIndex(str(error)) from None


def load_or_empty() -> list[CheckpointEntry]:
    """Load every entry; none if the index cannot be read."""
    try:
        return load()
    except (BrokenIndex, NewerCheckpointIndex):
        return []


def newer_version_error() -> str:
    """Return the error if a newer Holdfast has written the index; empty otherwise."""
    try:
        load()
    except NewerCheckpointIndex as error:
        return f"{error}: {error.hint}"
    except BrokenIndex:
        pass
    return ""


def of_project(project: str, *, foreign: bool = False) -> list[CheckpointEntry]:
    """Return a project's checkpoints as its folders have them now, oldest first; nothing is
    written.

    Without `foreign`, only those made on this machine: anyone may have put a file into a
    repository. A project that was moved keeps the checkpoints inside it.
    """
    project = folders.resolve(project)
    inside = folders.readable(project)
    rows = _rows_of(places.read_small(path(), LARGEST_BYTES), project, inside)
    rows = load_or_empty() if rows is None else rows
    here = [one for one in rows if project == one.project or one.folder in inside]
    here = reconcile(here, inside, only=_only(foreign))
    return sorted(here if foreign else provenance.own_entries(here), key=lambda one: one.rank)


def _only(foreign: bool = False) -> Container[str] | None:
    return None if foreign else provenance.hashes()


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
            _remember(project)
            if new and (data := _with_new(project, new)):
                _replace(data)
                return []
            entries, errors = _load_or_rebuild()
            entries = [one for one in entries if one.path != new]
            save(reconcile(entries, folders.readable(project), new, _only()))
        except (OSError, NewerCheckpointIndex) as error:
            return [f"the index was not written: {error}"]
        return errors


def _rows_of(data: bytes, project: str, inside: list[str]) -> list[CheckpointEntry] | None:
    """Return the entries that name the project or one of its folders; None if the whole index
    has to be decoded."""
    if not data.startswith(_HEAD) or not data.endswith(b"}" + _TAIL):
        return None
    lines: dict[int, bytes] = {}
    for place in (project, *[one for one in inside if project not in one]):
        sought = place.encode("ascii", "replace")
        if not place or sought.decode("ascii") != place or b'"' in sought or b"\\" in sought:
            return None  # it looks different in JSON
        at = data.find(sought)
        while at >= 0:
            start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            lines[start] = data[start:end].rstrip(b",")
            at = data.find(sought, end)
    try:
        return [msgspec.json.decode(lines[at], type=CheckpointEntry) for at in sorted(lines)]
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _with_new(project: str, new: str) -> bytes:
    """Return the index with the entry of a new file appended; empty if that is not enough: the
    project's other files differ from their entries, or one with a later date exists."""
    data, inside = places.read_small(path(), LARGEST_BYTES), folders.readable(project)
    rows = _rows_of(data, project, inside)
    if rows is None or any(one.path == new for one in rows):
        return b""
    healthy = reconcile(rows, inside, new, _only())
    added = [one for one in healthy if one.path == new]
    if not added or len(healthy) != len(rows) + 1 or not {*rows} <= {*healthy}:
        return b""
    end = len(data) - len(_TAIL)
    try:
        last = msgspec.json.decode(data[data.rfind(b"\n", 0, end) : end], type=CheckpointEntry)
        line = msgspec.json.encode(added[0])
    except (msgspec.MsgspecError, UnicodeError):
        return b""
    if _order(added[0]) < _order(last):
        return b""
    return _head() + data[data.find(b"\n") + 1 : end] + b",\n" + line + _TAIL


def _load_or_rebuild() -> tuple[list[CheckpointEntry], list[str]]:
    try:
        return load(), []
    except BrokenIndex as error:
        places_known = [f for one in projects() for f in folders.readable(one)]
        entries = reconcile([], places_known, only=_only())
        fresh = len(entries) < 2 and str(error) == "there is none"
        return entries, [] if fresh else [f"the index was made again from the files: {error}"]


def save(entries: Iterable[CheckpointEntry]) -> None:
    """Write one entry per line, oldest first: this is quick, and a diff of it is readable."""
    ordered = sorted(entries, key=_order)
    _replace(_head() + _rows(ordered) + _TAIL)


def _head() -> bytes:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return _HEAD + f', "last_updated": "{now}", "checkpoints": [\n'.encode()


def _replace(data: bytes) -> None:
    with folders.enter(folders.home_folder()) as folder:
        atomic.replace_whole(folder, NAME, data)


def _order(one: CheckpointEntry) -> tuple[str, int, str]:
    """Sort by rank, then path. Most of a thousand ids have no number at their end."""
    return one.created, number(one.id) if len(one.id) > STAMP_CHARS else 0, one.path


def _rows(entries: list[CheckpointEntry]) -> bytes:
    try:
        return msgspec.json.Encoder().encode_lines(entries).rstrip().replace(b"\n", b",\n")
    except UnicodeEncodeError:  # a path that is not UTF-8
        return ",\n".join(one.line() for one in entries).encode()


def projects() -> list[str]:
    """Return every project that ever had a checkpoint, from every place that records it."""
    listed = _read(PROJECTS).get("projects")
    found = {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()
    found |= {one.project for one in load_or_empty()}
    return sorted(found | _by_snapshots())


def _by_snapshots() -> set[str]:
    """Return the projects that our snapshots name."""
    found = set()
    for key in folders.names_in(folders.root()):
        snapshots = [
            name for name in folders.names_in(f"{folders.root()}/{key}") if name.endswith(".json")
        ]
        if snapshots:
            project = _read(f"{key}/{max(snapshots)}").get("project")
            found |= {project} if isinstance(project, str) else set()
    return found


def _remember(project: str) -> None:
    listed = _read(PROJECTS).get("projects")
    if isinstance(listed, list) and project in listed:
        return
    remember({*projects(), project})


def remember(found: Iterable[str]) -> None:
    text = json.dumps({"version": 1, "projects": sorted(found)}, indent=1) + "\n"
    with folders.enter(folders.home_folder()) as folder:
        atomic.replace_whole(folder, PROJECTS, text.encode())


def _read(name: str) -> dict[str, object]:
    try:
        value = json.loads(places.read_small(f"{folders.root()}/{name}", LARGEST_BYTES))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
