"""Compressed segments: warm ones by default, cold ones when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from holdfast.checkpoint.digest import digest
from holdfast.memory import places as here
from holdfast.memory.item import SEGMENT, Item, id_of
from holdfast.memory.sources import windows
from holdfast.memory.sources.pieces import clean, pieces
from holdfast.memory.sources.source import Read, Source
from holdfast.wire import places

KEY = "segments:"
FOLDER = "segments"


def sources(project: str) -> Iterator[Source]:
    """None without a shelf; looking for one costs a look at a folder."""
    root = f"{places.home().rstrip('/')}/{FOLDER}"
    stamps = [f"{path} {here.stamp(path)}" for path in _below(root)]
    if stamps:
        stamp = digest("\n".join(stamps).encode("utf-8", "surrogatepass"))[:16]
        yield Source(f"{KEY}shelf", stamp, partial(_read, project))


def _below(folder: str, depth: int = 3) -> Iterator[str]:
    for name in sorted(here.names_in(folder)):
        path = f"{folder}/{name}"
        if name.endswith((".json", ".jsonl", ".md")):
            yield path
        elif depth and "." not in name:
            yield from _below(path, depth - 1)


def _read(project: str, _state: str) -> Read:
    from holdfast.segment import shelf

    paths = {session: path for session, (_, path) in windows.noted().items()}
    found: dict[str, Item] = {}
    for cold, shelved in ((False, shelf.warm(project)), (True, shelf.cold(project))):
        for one in shelved:
            for item in _items(one, cold, paths.get(one.session_id, "")):
                found.setdefault(item.id, item._replace(position=2 * len(found)))
    return Read(list(found.values()), "")


def _items(segment: Any, cold: bool, transcript: str) -> Iterable[Item]:
    listed = [*segment.key_decisions, *segment.key_files]
    for number, part in enumerate(pieces(clean(segment.compressed_content)) or [""]):
        yield Item(
            id=id_of(SEGMENT, segment.segment_id, str(number)),
            kind=SEGMENT,
            text=part,
            title=clean(segment.topic),
            more=clean("\n".join(listed))[:1_200] if number == 0 else "",
            cold=cold,
            session=segment.session_id,
            file=transcript,
            first_turn=segment.start_turn,
            last_turn=segment.end_turn,
        )
