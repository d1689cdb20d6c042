"""The topics of a project's memory: all are read; ours are written, changed and removed.

Nothing here happens by itself: a topic is written when a person, or the model through a tool, asks
for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from holdfast.client.memory_folder import find_memory_folder
from holdfast.client.settings_files import transcripts_folder
from holdfast.memory.topics import folder, topic, topic_index
from holdfast.memory.topics.topic import TYPES, MemoryTopic, NotOurTopic, Unfit
from holdfast.memory.topics.topic_index import NAME, TopicIndex, find, fit_index, in_folder
from holdfast.redact import redact
from holdfast.text import fence

DAY_MS = 86_400_000
LASTING = ("user", "feedback")


@dataclass(frozen=True, slots=True)
class TopicChange:
    """What was done to the folder, and where the earlier text went."""

    topic: MemoryTopic
    did: str  # added, edited, nothing, retired
    path: str
    before: str = ""  # a copy of the earlier text
    shelved: tuple[str, ...] = ()  # names of our topics that moved from the index to the page


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


def remember(
    project: str,
    name: str,
    description: str,
    type: str,  # noqa: A002 (what the folder calls it)
    body: str,
    now_ms: int,
) -> MemoryTopic:
    """Write or change a topic of ours. Topics of others are never changed."""
    return change(project, name, description, type, body, now_ms).topic


def change(
    project: str, name: str, description: str, kind: str, body: str, now_ms: int
) -> TopicChange:
    """Write a topic as `remember` does, and return everything that was changed."""
    body = redact(fence.clean(body.replace("\r\n", "\n")))
    name, description = _fit(name, description, kind, body)
    text = topic.render(name, description, kind, body)
    path, wanted = _folder(project), topic.file_name(name)
    with folder.lock_folder(path):
        known = [one for one in in_folder(path, wanted) if not topic_index.is_page(one)]
        file = _file_for(path, known, name)
        new = topic.parse(text, file)
        old = next((one for one in known if one.file == file), None)
        before = folder.copy(path, file, now_ms) if old else ""
        did = "edited" if old else "added"
        was = folder.read(path, file) if old else None
        if was is not None and was.data == text.encode():
            did, before = "nothing", ""
        elif old:
            folder.replace(path, file, text.encode())
        else:
            folder.create(path, file, text.encode())
        try:
            gone = _point(path, new, old, known)
        except BaseException:
            _put_back(path, file, was)
            raise
        return TopicChange(replace(new, in_index=True), did, str(path / file), before, gone)


def forget(project: str, name: str, now_ms: int = 0) -> TopicChange:
    """Remove a topic of ours, with its line and its file. A copy stays with our own files."""
    path = _folder(project)
    with folder.lock_folder(path):
        old = find(in_folder(path), name)
        if not old.is_ours:
            raise NotOurTopic(f"{old.file} was not written by Holdfast, or was edited since")
        if topic_index.is_page(old):
            raise NotOurTopic(f"{old.file} lists the topics that do not fit into {NAME}")
        before = folder.copy(path, old.file, now_ms)
        page = topic_index.page(path)
        shelved = topic_index.list_pointers(path, page, back=old.file)
        topic_index.write(path, page, shelved)
        gone = "" if shelved else page
        folder.swap(path, NAME, lambda data: _unpointed(data, old, gone))
        folder.remove_made(path, NAME)
        topic_index.remove_if_empty(path, page, shelved)
        folder.remove(path, old.file)
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
    taken = folder.taken_names(path) | frozenset(topic_index.FILES)
    stem = topic.file_name(name).removesuffix(".md")
    return next(one for n in count() if folder.is_free(path, one := _numbered(stem, n), taken))


def _numbered(stem: str, n: int) -> str:
    return f"{stem}-{n + 1}.md" if n else f"{stem}.md"


def _point(
    path: Path, new: MemoryTopic, old: MemoryTopic | None, known: Sequence[MemoryTopic]
) -> tuple[str, ...]:
    """Put our line into the index, and return the names of topics that had to make room.

    A line edited by hand stays as it is. A line removed by hand comes back, because the topic was
    asked for again.
    """
    others = {one.file: one for one in known if one.is_ours and one.file != new.file}
    ours = {**others, new.file: new}
    page = topic_index.page(path)
    gone: list[str] = []
    shelved: list[str] = []

    def changed(data: bytes) -> bytes:
        index = TopicIndex.parse(data)
        line = index.line_of(new.file)
        if line is not None and (old is None or line != topic.pointer(old)):
            return data
        wanted = index.put(new.file, topic.pointer(new))
        may_go = [*_least(others, index), new.file]
        fitted, gone[:] = fit_index(wanted, may_go, page, topic_index.pointer(page))
        shelved[:] = topic_index.list_pointers(
            path, page, [ours[file] for file in gone], back=new.file
        )
        topic_index.write(path, page, shelved)
        return (fitted if shelved else fitted.without(page)).data()

    is_new = not os.path.lexists(path / NAME)
    folder.swap(path, NAME, changed)
    if is_new:
        folder.note_made(path)
    topic_index.remove_if_empty(path, page, shelved)
    return tuple(ours[file].name for file in gone)


def _least(others: Mapping[str, MemoryTopic], index: TopicIndex) -> list[str]:
    """List our lines that may leave the index, by the day of their last use. On the same day,
    topics about the project leave before those about the user."""
    ours = [one for one in others.values() if index.line_of(one.file) == topic.pointer(one)]
    ours.sort(key=lambda one: (one.used_ms // DAY_MS, one.type in LASTING, one.used_ms))
    return [one.file for one in ours]


def _unpointed(data: bytes, old: MemoryTopic, page: str) -> bytes:
    index = TopicIndex.parse(data)
    if index.line_of(old.file) == topic.pointer(old):
        index = index.without(old.file)
    if page and index.line_of(page) == topic_index.pointer(page):
        index = index.without(page)
    return index.data()


def _put_back(path: Path, file: str, was: folder.FolderFile | None) -> None:
    if was is None:
        folder.remove(path, file)
    else:
        folder.replace(path, file, was.data)
