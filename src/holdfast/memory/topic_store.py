"""The topics of a project's memory: all are read; ours are written, changed and removed.

Nothing here happens by itself: a topic is written when a person, or the model through a tool, asks
for it. In `MEMORY.md` only our lines are added, changed or removed; no other byte changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from holdfast.client.memory_folder import find_memory_folder
from holdfast.client.settings_files import transcripts_folder
from holdfast.memory import topic, topic_folder
from holdfast.memory.topic import (
    TYPES,
    Ambiguous,
    MemoryTopic,
    NoSuchTopic,
    NotOurTopic,
    TopicIndexFull,
    Unfit,
)
from holdfast.redact import redact
from holdfast.text import fence

NAME = "MEMORY.md"
MOST_LINES, MOST_BYTES = 200, 25_000  # as much as the client loads
_POINTER = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(<?(?:\./)?([^)<>]+?)>?\)")


class TopicIndex:
    """The lines of an index, in any encoding and with any line ends. Taking out a line that was put
    in gives the file as it was."""

    def __init__(self, data: bytes) -> None:
        self.lines = data.decode("utf-8", "surrogateescape").split("\n")
        names = [_POINTER.match(line) for line in self.lines]
        self.files = {found[1]: at for at, found in reversed([*enumerate(names)]) if found}

    def data(self) -> bytes:
        return "\n".join(self.lines).encode("utf-8", "surrogateescape")

    def line_of(self, file: str) -> str | None:
        """The line that names this file, if there is one."""
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


def in_folder(path: Path, also: str = "") -> list[MemoryTopic]:
    """Read all topics, in the order of the index, then by file. `also` is read even if the folder
    has too many."""
    found = topic_folder.read(path, NAME, topic_folder.MOST_INDEX_BYTES)
    index = TopicIndex(found.data if found else b"")
    order = index.files
    names = topic_folder.names(path)
    if also and also.casefold() not in {NAME.casefold(), *(name.casefold() for name in names)}:
        names.append(also)
    read = [one for name in names if (one := _topic(path, name, index))]
    return sorted(read, key=lambda one: (order.get(one.file, len(order)), one.file))


def find(found: Sequence[MemoryTopic], name: str) -> MemoryTopic:
    """Find a topic by its file, else by its name. If two have the name, ours is taken."""
    named = [one for one in found if name in (one.file, f"{one.file}".removesuffix(".md"))]
    named = named or [one for one in found if one.name == name]
    ours = [one for one in named if one.is_ours]
    if not named:
        raise NoSuchTopic(f"there is no topic {name}")
    if len(named) > 1 and len(ours) != 1:
        raise Ambiguous(f"{name} is in {', '.join(one.file for one in named)}")
    return named[0] if len(named) == 1 else ours[0]


def _topic(path: Path, name: str, index: TopicIndex) -> MemoryTopic | None:
    found = topic_folder.read(path, name)
    if found is None:
        return None
    text = found.data.decode("utf-8", "replace")
    one = topic.parse(text, name)
    line = index.line_of(name)
    ours = one.is_ours and (line is None or line == topic.pointer(one))
    note = "longer than is read" if found.is_cut else one.note
    if one.is_ours and not ours:
        note = "its line in the index was edited"
    return replace(
        one,
        is_ours=ours and not found.is_cut,
        in_index=line is not None,
        modified_ms=found.modified_ms,
        note=note,
    )


@dataclass(frozen=True, slots=True)
class TopicChange:
    """What was done to the folder, and where the earlier text went."""

    topic: MemoryTopic
    did: str  # added, edited, nothing, retired
    path: str
    before: str = ""  # a copy of the earlier text


def topics(project: str) -> list[MemoryTopic]:
    """Read every topic in the folder, in the order of the index, then by file."""
    return in_folder(_folder(project))


def folders_with_ours() -> dict[Path, int]:
    """Count our topics by memory folder, in the usual place of those folders."""
    found = sorted(transcripts_folder().glob("*/memory"))
    counts = {path: sum(one.is_ours for one in in_folder(path)) for path in found}
    return {path: number for path, number in counts.items() if number}


def _folder(project: str) -> Path:
    return Path(find_memory_folder(project).path)


def change(
    project: str, name: str, description: str, kind: str, body: str, now_ms: int
) -> TopicChange:
    """Write or change a topic of ours. Topics of others are never changed."""
    body = redact(fence.clean(body.replace("\r\n", "\n")))
    name, description = _fit(name, description, kind, body)
    text = topic.render(name, description, kind, body)
    path, wanted = _folder(project), topic.file_name(name)
    with topic_folder.lock_folder(path):
        known = in_folder(path, wanted)
        file = _file_for(path, known, name)
        new = topic.parse(text, file)
        old = next((one for one in known if one.file == file), None)
        before = topic_folder.copy(path, file, now_ms) if old else ""
        did = "edited" if old else "added"
        was = topic_folder.read(path, file) if old else None
        _point(path, new, old)  # first: a full index, or a folder that takes nothing, is found here
        if was is not None and was.data == text.encode():
            did, before = "nothing", ""
        elif old:
            topic_folder.replace(path, file, text.encode())
        else:
            topic_folder.create(path, file, text.encode())
        return TopicChange(replace(new, in_index=True), did, str(path / file), before)


def forget(project: str, name: str, now_ms: int = 0) -> TopicChange:
    """Remove a topic of ours, with its line and its file. A copy stays with our own files."""
    path = _folder(project)
    with topic_folder.lock_folder(path):
        old = find(in_folder(path), name)
        if not old.is_ours:
            raise NotOurTopic(f"{old.file} was not written by Holdfast, or was edited since")
        before = topic_folder.copy(path, old.file, now_ms)
        topic_folder.swap(path, NAME, lambda data: _unpointed(data, old))
        topic_folder.remove(path, old.file)
    return TopicChange(old, "retired", str(path / old.file), before)


def _fit(name: str, description: str, kind: str, body: str) -> tuple[str, str]:
    name, description = redact(_line(name)), redact(_line(description))
    if kind not in TYPES:
        raise Unfit(f"{kind!r} is not a type; use one of {', '.join(TYPES)}")
    if not topic.file_name(name) or len(name) > topic.MOST_NAME:
        raise Unfit(f"a name has 1 to {topic.MOST_NAME} characters, with a letter or a digit")
    if not description or len(description) > topic.MOST_DESCRIPTION:
        raise Unfit(f"a description has 1 to {topic.MOST_DESCRIPTION} characters")
    if not body.strip() or len(body) > topic.MOST_BODY:
        raise Unfit(f"a text has 1 to {topic.MOST_BODY:,} characters")
    return name, description


def _line(text: str) -> str:
    """Return text on one line, made safe: the client shows the folder to the model as it is."""
    return " ".join(fence.clean(text).split())


def _file_for(path: Path, known: Sequence[MemoryTopic], name: str) -> str:
    """Return the file of our topic of this name, or a free file name."""
    same = [one for one in known if name in (one.name, _line(one.name))]
    ours = [one for one in same if one.is_ours]
    if same and not ours:
        raise NotOurTopic(f"{same[0].file} has that name, but is not ours or was edited since")
    if ours:
        return ours[0].file
    taken = topic_folder.taken_names(path)
    stem = topic.file_name(name).removesuffix(".md")
    numbered = (f"{stem}-{n + 1}.md" if n else f"{stem}.md" for n in count())
    return next(one for one in numbered if one.casefold() not in taken)


def _point(path: Path, new: MemoryTopic, old: MemoryTopic | None) -> None:
    """Put our line into the index.

    A line edited by hand stays as it is. A line removed by hand comes back, because the topic was
    asked for again.
    """

    def changed(data: bytes) -> bytes:
        index = TopicIndex(data)
        line = index.line_of(new.file)
        if line is not None and (old is None or line != topic.pointer(old)):
            return data
        longer = index.put(new.file, topic.pointer(new))
        if len(longer.splitlines()) > MOST_LINES or len(longer) > MOST_BYTES:
            raise TopicIndexFull(f"{NAME} has {len(index.lines)} lines and {len(data):,} bytes")
        return longer

    topic_folder.swap(path, NAME, changed)


def _unpointed(data: bytes, old: MemoryTopic) -> bytes:
    index = TopicIndex(data)
    return index.without(old.file) if index.line_of(old.file) == topic.pointer(old) else data
