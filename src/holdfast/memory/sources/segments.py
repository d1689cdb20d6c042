"""Compressed segments: the warm ones by default, the cold ones on request."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdfast.files.digest import digest
from holdfast.memory import locations
from holdfast.memory.item import SEGMENT, Item
from holdfast.memory.sources.source import MemorySource, SourceRead, clean, pieces
from holdfast.wire import places

if TYPE_CHECKING:
    from holdfast.segment.formats import Compressed

KEY = "segments"
OURS = "segments"
THEIRS = (
    "data/knowledge-db/compressed_context",
    ".claude/data/sessions",
)  # where other tools of this format store theirs
MORE_CHARS = 1_200


def sources(project: str) -> Iterator[MemorySource]:
    """List all segments as one source; none if there are no files."""
    roots = [f"{places.home().rstrip('/')}/{OURS}"]
    roots += filter(None, (places.resolve_inside(project, inside) for inside in THEIRS))
    stamps = [f"{path} {locations.stamp(path)}" for root in roots for path in _below(root)]
    if stamps:
        stamp = digest("\n".join(stamps).encode("utf-8", "surrogatepass"))[:16]
        yield MemorySource(KEY, stamp, partial(_read, project))


def segment_id(item_id: str) -> str:
    """Return the id of the segment that an item is a piece of."""
    return item_id.removeprefix(f"{SEGMENT}-").partition(".")[0]


def _below(folder: str, depth: int = 3) -> Iterator[str]:
    """List the files below a folder. Links are not followed: a link to `/` would make every search
    read the whole disk."""
    for name in sorted(locations.names_in(folder)):
        path = f"{folder}/{name}"
        if name.endswith(".json"):
            yield path
        elif depth and "." not in name and not os.path.islink(path):  # noqa: PTH114
            yield from _below(path, depth - 1)


def _read(project: str, _state: str, _give_up: float) -> SourceRead:
    from holdfast.segment import library

    shelved = [(one, False) for one in library.warm(project)]
    shelved += [(one, True) for one in library.cold(project)]
    found: dict[str, Item] = {}
    for one, cold in shelved:
        for item in _items(one, cold):
            found.setdefault(item.id, item._replace(position=2 * len(found)))
    return SourceRead(list(found.values()), "")


def _items(one: Compressed, cold: bool) -> Iterator[Item]:
    about = one.metadata
    listed = clean("\n".join([*one.key_decisions, *one.key_files]))[:MORE_CHARS]
    for number, part in enumerate(pieces(clean(one.compressed_content)) or [""]):
        yield Item(
            id=f"{SEGMENT}-{one.segment_id}" + (f".{number}" if number else ""),
            kind=SEGMENT,
            text=part,
            title=clean(one.topic),
            more=listed if number == 0 else "",
            cold=cold,
            session=one.session_id,
            file=about.transcript,
            first_turn=one.start_turn,
            last_turn=one.end_turn,
            uuids=tuple(filter(None, (about.first_uuid, about.last_uuid))),
            at=about.ended_at or one.compressed_at,
            offset=about.start_byte,
        )
