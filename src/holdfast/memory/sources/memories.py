"""The client's memory files of a project: `MEMORY.md`, and a file per topic beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from holdfast.memory import places as here
from holdfast.memory.item import MEMORY, Item, id_of
from holdfast.memory.sources.pieces import clean, pieces
from holdfast.memory.sources.source import Read, Source
from holdfast.wire import places

KEY = "memory:"
MOST_BYTES = 1 << 20
MOST_FILES = 2_000
INDEX = "MEMORY.md"


def sources(project: str) -> Iterator[Source]:
    folder = f"{here.client_folder(project)}/memory"
    for name in sorted(here.names_in(folder))[:MOST_FILES]:
        path = f"{folder}/{name}"
        # A link may lead anywhere: what is not in the folder is not a memory of this project.
        if not name.endswith(".md") or name == INDEX or os.path.islink(path):  # noqa: PTH114
            continue
        if stamp := here.stamp(path):
            yield Source(f"{KEY}{path}", stamp, partial(_read, path))


def _read(path: str, _state: str) -> Read:
    from holdfast.redact import redact

    text = redact(clean(places.read_small(path, MOST_BYTES).decode("utf-8", "replace")))
    about, body = _parted(text)
    title = ": ".join(filter(None, (about.get("name"), about.get("description"))))
    kind = about.get("type", "")
    return Read(
        [
            Item(
                id=id_of(MEMORY, path, str(number)),
                kind=MEMORY,
                text=part,
                title=title or os.path.basename(path),  # noqa: PTH119
                position=number,
                by=kind,
                file=path,
            )
            for number, part in enumerate(pieces(body) or [title])
        ],
        "",
    )


def _parted(text: str) -> tuple[dict[str, str], str]:
    """Front matter, read for what it says of itself, and the rest; broken, it is all text."""
    if not text.startswith("---\n"):
        return {}, text
    head, fence, body = text[4:].partition("\n---")
    if not fence:
        return {}, text
    pairs = (line.partition(":") for line in head.splitlines())
    found = {name.strip(): value.strip().strip("\"'") for name, colon, value in pairs if colon}
    return found, body.partition("\n")[2]
