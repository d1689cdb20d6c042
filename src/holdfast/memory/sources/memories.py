"""The client's memory files of a project, one per topic. Their index only lists them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from holdfast.client.memory_folder import find_memory_folder
from holdfast.memory import locations
from holdfast.memory.item import MEMORY, Item, id_of
from holdfast.memory.sources.source import MemorySource, SourceRead, clean, pieces

KEY = "memory:"
MOST_FILES = 2_000
INDEX = "MEMORY.md"


def sources(project: str) -> Iterator[MemorySource]:
    folder = find_memory_folder(project).path
    for name in sorted(locations.names_in(folder))[:MOST_FILES]:
        path = f"{folder}/{name}"
        # Links are skipped, because they may lead out of the project's folder.
        if not name.endswith(".md") or name == INDEX or os.path.islink(path):  # noqa: PTH114
            continue
        if stamp := locations.stamp(path):
            yield MemorySource(f"{KEY}{path}", stamp, partial(_read, folder, name))


def _read(folder: str, name: str, _state: str, _give_up: float) -> SourceRead:
    from pathlib import Path

    from holdfast.memory.topics import folder as hot
    from holdfast.memory.topics import topic
    from holdfast.redact import redact

    found = hot.read(Path(folder), name)
    parsed = topic.parse(
        redact(clean(found.data.decode("utf-8", "replace"))) if found else "", name
    )
    title = ": ".join(filter(None, (parsed.name, parsed.description)))
    path = f"{folder}/{name}"
    items = [
        Item(
            id=id_of(MEMORY, path, str(number)),
            kind=MEMORY,
            text=part,
            title=title,
            position=number,
            by=parsed.type,
            file=path,
        )
        for number, part in enumerate(pieces(parsed.body) or [""])
    ]
    return SourceRead(items, "")
