"""The topics of a project's memory: all are read; ours are written, changed and removed.

Nothing here happens by itself: a topic is written when a person, or the model through a tool, asks
for it. In `MEMORY.md` only our lines are added, changed or removed; no other byte changes. The
client writes there too and takes no lock. So the index is replaced only if it still holds what was
read. Topics are copied to our own folder before we change or remove them.

A topic is front matter and text. Ours contain `source: holdfast` and a hash of themselves. A file
with another hash was edited by hand, and belongs to its editor.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from zlib import crc32

from holdfast.client.claude_folder import transcripts_folder
from holdfast.client.memory_folder import find_memory_folder
from holdfast.files import atomic, small_files
from holdfast.files.folders import names_in
from holdfast.redact.find import redact
from holdfast.text import fence
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

NOT_OURS = "edit the file yourself, or give your topic another name"
INDEX_FULL = "retire a topic: Claude Code reads the first 200 lines and 25,000 bytes of MEMORY.md"
NAME = "MEMORY.md"
MOST_LINES, MOST_BYTES = 200, 25_000  # as much as the client loads
MOST_FILES, MOST_COPIES = 2_000, 200
MOST_TOPIC_BYTES, MOST_INDEX_BYTES = 256 << 10, 4 << 20
PATIENCE_SECONDS = 5.0
TRIES = 20
_POINTER = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(<?(?:\./)?([^)<>]+?)>?\)")
TYPES = ("user", "feedback", "project", "reference")
SOURCE = "holdfast"
MOST_NAME, MOST_DESCRIPTION, MOST_BODY = 80, 300, 60_000
POINTER_CHARS = 150  # what the client expects of a line in its index
FENCE = "---"
_HASH = re.compile(r"^hash: [0-9a-f]+\n", re.MULTILINE)


class NoSuchTopic(HoldfastError):
    hint = "`holdfast memory list` shows them all"


class Ambiguous(HoldfastError):
    exit_code = 2
    hint = "name the file instead"


class NotWritten(HoldfastError):
    """The folder cannot be written, or somebody else keeps writing it."""

    exit_code = 5
    hint = "nothing was changed; make the folder writable, or try again"


@dataclass(frozen=True, slots=True)
class MemoryTopic:
    name: str
    description: str
    type: str  # one of TYPES; empty if the file has none
    body: str
    file: str  # its name in the folder
    is_ours: bool = False  # we wrote it, and nobody has changed it
    in_index: bool = False
    modified_ms: int = 0
    note: str = ""  # what is odd about it


def render(name: str, description: str, kind: str, body: str) -> str:
    """Return the file content of a topic of ours."""
    quoted = (json.dumps(text, ensure_ascii=False) for text in (name, description))
    head = "name: {}\ndescription: {}\n".format(*quoted) + f"type: {kind}\nsource: {SOURCE}\n"
    text = f"{FENCE}\n{head}{FENCE}\n\n{body.strip()}\n"
    return text.replace(f"source: {SOURCE}\n", f"source: {SOURCE}\nhash: {_digest(text)}\n", 1)


def parse(text: str, file: str) -> MemoryTopic:
    """Parse any file. With broken front matter, everything is the body, and a note says so."""
    values, body, note = _split(text)
    unsigned = _HASH.sub("", text, count=1)
    kind = values.get("type", "")
    note = note or ("" if not kind or kind in TYPES else f"unknown type {kind[:20]!r}")
    stem = file.removesuffix(".md")
    return MemoryTopic(
        name=_joined(values.get("name", "")) or stem,
        description=_joined(values.get("description", "")) or _first_line(body),
        type=kind if kind in TYPES else "",
        body=body,
        file=file,
        is_ours=values.get("source") == SOURCE and values.get("hash") == _digest(unsigned),
        note=note,
    )


def file_name(name: str) -> str:
    """Return the file name for a topic; empty if its name has no letter or digit."""
    words = "".join(mark if mark.isalnum() else " " for mark in name.lower()).split()
    stem = "-".join(words)[:60].rstrip("-").encode()[:180].decode("utf-8", "ignore")
    return f"{stem}.md" if stem else ""


def pointer(topic: MemoryTopic) -> str:
    """Return its line in the index, which is found by the file it names."""
    title = "".join(mark for mark in topic.name if mark not in "[]()")
    line = f"- [{title}]({topic.file}) — {_joined(topic.description)}"
    return line if len(line) <= POINTER_CHARS else line[: POINTER_CHARS - 1].rstrip() + "…"


def _split(text: str) -> tuple[dict[str, str], str, str]:
    """Return the values of the front matter, the body, and what is wrong with the former."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].strip() != FENCE:
        return {}, text, "no front matter"
    ends = [n for n, line in enumerate(lines[:60]) if n and line.strip() == FENCE]
    if not ends:
        return {}, text, "front matter without an end"
    return _values(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :]).strip("\n"), ""


def _values(lines: list[str]) -> dict[str, str]:
    """Read `key: value` lines at any depth (`type` is under `metadata`); the first one wins."""
    found: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.strip().partition(":")
        if colon and value.strip():
            found.setdefault(key.strip(), _unquoted(value.strip()))
    return found


def _unquoted(value: str) -> str:
    if value[:1] == '"':
        try:
            return str(json.loads(value))
        except (ValueError, RecursionError):
            return value.strip('"')
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _joined(text: str) -> str:
    return " ".join(text.split())


def _first_line(body: str) -> str:
    lines = (line.strip().lstrip("#").strip() for line in body.split("\n"))
    return next((line[:MOST_DESCRIPTION] for line in lines if line), "")


class TopicIndex:
    """The lines of an index, with any encoding and line ends, which stay as they are."""

    def __init__(self, data: bytes) -> None:
        self.lines = data.decode("utf-8", "surrogateescape").split("\n")
        names = [_POINTER.match(line) for line in self.lines]
        self.files = {found[1]: at for at, found in reversed([*enumerate(names)]) if found}

    def data(self) -> bytes:
        return "\n".join(self.lines).encode("utf-8", "surrogateescape")

    def line_of(self, file: str) -> str | None:
        return self.lines[self.files[file]].rstrip("\r") if file in self.files else None

    def put(self, file: str, text: str) -> bytes:
        """Put a line in its old place, or at the end."""
        end = "\r" if self.lines[0].endswith("\r") else ""
        if file in self.files:
            self.lines[self.files[file]] = text + end
        elif self.lines[-1]:
            self.lines.append(text)
        else:
            self.lines.insert(-1, text + end)
        return self.data()

    def without(self, file: str) -> bytes:
        del self.lines[self.files[file]]
        return self.data()


@dataclass(frozen=True, slots=True)
class TopicChange:
    """What was done to the folder, and where the earlier text went."""

    topic: MemoryTopic
    did: str  # added, edited, nothing, retired
    path: str
    before: str = ""  # a copy of the earlier text


def topics(project: str) -> list[MemoryTopic]:
    """Read every topic in the folder, in the order of the index, then by file."""
    return _in_folder(_folder(project))


def folders_with_ours() -> dict[Path, int]:
    """Count our topics by memory folder, in the usual place of those folders."""
    found = sorted(transcripts_folder().glob("*/memory"))
    counts = {path: sum(one.is_ours for one in _in_folder(path)) for path in found}
    return {path: number for path, number in counts.items() if number}


def find(found: Sequence[MemoryTopic], name: str) -> MemoryTopic:
    """Find a topic by its file, else by its name. If two have the name, ours is taken."""
    named = [one for one in found if name in (one.file, one.file.removesuffix(".md"))]
    named = named or [one for one in found if one.name == name]
    matches = [one for one in named if one.is_ours] or named
    if not matches:
        raise NoSuchTopic(f"there is no topic {name}")
    if len(matches) > 1:
        raise Ambiguous(f"{name} is in {', '.join(one.file for one in named)}")
    return matches[0]


def _folder(project: str) -> Path:
    return Path(find_memory_folder(project).path)


def _in_folder(folder: Path) -> list[MemoryTopic]:
    index = TopicIndex(read(folder, NAME, MOST_INDEX_BYTES) or b"")
    names = [name for name in sorted(names_in(str(folder))) if name.endswith(".md")]
    names = [name for name in names if not name.startswith(".") and name != NAME]
    read_topics = [one for name in names[:MOST_FILES] if (one := _topic(folder, name, index))]
    order = index.files
    return sorted(read_topics, key=lambda one: (order.get(one.file, len(order)), one.file))


def _topic(folder: Path, name: str, index: TopicIndex) -> MemoryTopic | None:
    data = read(folder, name)
    if data is None:
        return None
    one = parse(data[:MOST_TOPIC_BYTES].decode("utf-8", "replace"), name)
    line, is_cut = index.line_of(name), len(data) > MOST_TOPIC_BYTES
    ours = one.is_ours and (line is None or line == pointer(one))
    note = "longer than is read" if is_cut else one.note
    return replace(
        one,
        is_ours=ours and not is_cut,
        in_index=line is not None,
        modified_ms=places.modified_ms(f"{folder}/{name}"),
        note="its line in the index was edited" if one.is_ours and not ours else note,
    )


def read(folder: Path, name: str, most: int = MOST_TOPIC_BYTES) -> bytes | None:
    """Read a regular file of this folder, up to a byte more than `most`; None for anything else."""
    path = folder / name
    if path.is_symlink():
        return None
    try:
        with os.fdopen(places.open_regular(path), "rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError):
        return None


def change(
    project: str, name: str, description: str, kind: str, body: str, now_ms: int
) -> TopicChange:
    """Write or change a topic of ours. Topics of others are never changed."""
    body = redact(fence.clean(body.replace("\r\n", "\n")))
    name, description = _fit(name, description, kind, body)
    data = render(name, description, kind, body).encode()
    folder = _folder(project)
    with _lock_folder(folder):
        known = _in_folder(folder)
        file = _file_for(folder, known, name)
        path = folder / file
        new = replace(parse(data.decode(), file), in_index=True)
        old = next((one for one in known if one.file == file), None)
        # First: a full index, or a folder that takes nothing, is found here.
        swap(folder, NAME, lambda index: _pointed(index, new, old))
        if old is None:
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                atomic.put_new(fd, data, [file])
            finally:
                os.close(fd)
            return TopicChange(new, "added", str(path))
        if read(folder, file) == data:
            return TopicChange(new, "nothing", str(path))
        before = _copy(folder, file, now_ms)
        _replace(path, data)
        return TopicChange(new, "edited", str(path), before)


def forget(project: str, name: str, now_ms: int = 0) -> TopicChange:
    """Remove a topic of ours, with its line and its file. A copy stays with our own files."""
    folder = _folder(project)
    with _lock_folder(folder):
        old = find(_in_folder(folder), name)
        if not old.is_ours:
            raise HoldfastError(
                f"{old.file} was not written by Holdfast, or was edited since", NOT_OURS, 3
            )
        before = _copy(folder, old.file, now_ms)
        swap(folder, NAME, lambda data: _unpointed(data, old))
        (folder / old.file).unlink()
    return TopicChange(old, "retired", str(folder / old.file), before)


def _fit(name: str, description: str, kind: str, body: str) -> tuple[str, str]:
    name, description = redact(_line(name)), redact(_line(description))
    if kind not in TYPES:
        raise HoldfastError(f"{kind!r} is not a type; use one of {', '.join(TYPES)}", exit_code=2)
    if not file_name(name) or len(name) > MOST_NAME:
        raise HoldfastError(
            f"a name has 1 to {MOST_NAME} characters, with a letter or a digit", exit_code=2
        )
    if not description or len(description) > MOST_DESCRIPTION:
        raise HoldfastError(f"a description has 1 to {MOST_DESCRIPTION} characters", exit_code=2)
    if not body.strip() or len(body) > MOST_BODY:
        raise HoldfastError(f"a text has 1 to {MOST_BODY:,} characters", exit_code=2)
    return name, description


def _line(text: str) -> str:
    """Return text on one line, made safe: the client shows the folder to the model as it is."""
    return " ".join(fence.clean(text).split())


def _file_for(folder: Path, known: Sequence[MemoryTopic], name: str) -> str:
    """Return the file of our topic of this name, or a free name, on any disk in any case."""
    same = [one for one in known if name in (one.name, _line(one.name))]
    ours = [one for one in same if one.is_ours]
    if same and not ours:
        raise HoldfastError(
            f"{same[0].file} has that name, but is not ours or was edited since", NOT_OURS, 3
        )
    if ours:
        return ours[0].file
    taken = {NAME.casefold(), *(file.casefold() for file in names_in(str(folder)))}
    stem = file_name(name).removesuffix(".md")
    numbered = (f"{stem}-{n + 1}.md" if n else f"{stem}.md" for n in count())
    return next(one for one in numbered if one.casefold() not in taken)


def _pointed(data: bytes, new: MemoryTopic, old: MemoryTopic | None) -> bytes:
    """Put our line into the index.

    A line edited by hand stays as it is; one removed by hand comes back.
    """
    index = TopicIndex(data)
    line = index.line_of(new.file)
    if line is not None and (old is None or line != pointer(old)):
        return data
    longer = index.put(new.file, pointer(new))
    if len(longer.splitlines()) > MOST_LINES or len(longer) > MOST_BYTES:
        raise HoldfastError(
            f"{NAME} has {len(index.lines)} lines and {len(data):,} bytes", INDEX_FULL, 3
        )
    return longer


def _unpointed(data: bytes, old: MemoryTopic) -> bytes:
    index = TopicIndex(data)
    return index.without(old.file) if index.line_of(old.file) == pointer(old) else data


def swap(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file that the client may be writing. One that becomes empty is removed."""
    path = folder / name
    for _ in range(TRIES):
        found = read(folder, name, MOST_INDEX_BYTES)
        if found is None and os.path.lexists(path):
            raise NotWritten(f"{path} is a link or cannot be read, and was left alone")
        before = found or b""
        if len(before) > MOST_INDEX_BYTES:
            raise NotWritten(f"{path} is longer than {MOST_INDEX_BYTES:,} bytes")
        after = change(before)
        if (read(folder, name, MOST_INDEX_BYTES) or b"") != before:
            continue
        if not after and found is not None:
            path.unlink()
        elif after != before:
            _replace(path, after)
        return
    raise NotWritten(f"another program keeps changing {path}")


def _replace(path: Path, data: bytes) -> None:
    """Replace a file atomically; its permissions stay."""
    places.make_folder(str(path.parent))
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    places.replace_whole(str(path), data, flush=True)
    path.chmod(mode)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Let one Holdfast write at a time. The lock is with our files, not in the client's folder."""
    try:
        with small_files.hold(str(_copies_of(folder) / "lock"), PATIENCE_SECONDS) as is_ours:
            if not is_ours:
                raise NotWritten("another Holdfast is writing this memory")
            yield
    except OSError as error:
        raise NotWritten(f"{folder} cannot be written: {error.strerror or error}") from error


def _copies_of(folder: Path) -> Path:
    """Return the folder of our own copies for this memory folder."""
    key = crc32(str(folder.resolve()).encode("utf-8", "surrogateescape"))
    return Path(places.home()) / "memory" / f"{key:08x}"


def _copy(folder: Path, file: str, now_ms: int) -> str:
    """Copy a file before it is changed; without the copy nothing may be changed."""
    place = _copies_of(folder) / "before"
    small_files.put(str(place / f"{now_ms:013}-{file}"), read(folder, file) or b"")
    for old in sorted(place.glob("*.md"))[:-MOST_COPIES]:
        old.unlink(missing_ok=True)
    return str(place / f"{now_ms:013}-{file}")
