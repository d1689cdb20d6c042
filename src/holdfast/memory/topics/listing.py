"""What lies in a memory folder, whoever wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from holdfast.memory.topics import folder, topic
from holdfast.memory.topics.errors import Ambiguous, NoSuchTopic
from holdfast.memory.topics.index import NAME, Index
from holdfast.memory.topics.topic import Topic


def in_folder(path: Path, also: str = "") -> list[Topic]:
    """In the order of the index, then by file; of a folder with more than is read, `also` too."""
    found = folder.read(path, NAME, folder.MOST_INDEX_BYTES)
    index = Index.of(found.data if found else b"")
    order = {file: n for n, file in reversed(list(enumerate(index.files())))}
    names = folder.names(path)
    if also and also.casefold() not in {NAME.casefold(), *(name.casefold() for name in names)}:
        names.append(also)
    read = [one for name in names if (one := _topic(path, name, index))]
    return sorted(read, key=lambda one: (order.get(one.file, len(order)), one.file))


def find(found: Sequence[Topic], name: str) -> Topic:
    """By file, else by name; of two of one name ours, where only one of them is."""
    named = [one for one in found if name in (one.file, f"{one.file}".removesuffix(".md"))]
    named = named or [one for one in found if one.name == name]
    ours = [one for one in named if one.is_ours]
    if not named:
        raise NoSuchTopic(f"there is no topic {name}")
    if len(named) > 1 and len(ours) != 1:
        raise Ambiguous(f"{name} is in {', '.join(one.file for one in named)}")
    return named[0] if len(named) == 1 else ours[0]


def _topic(path: Path, name: str, index: Index) -> Topic | None:
    found = folder.read(path, name)
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
        used_ms=found.used_ms,
        note=note,
    )
