"""Back from an item to the turns it came from, word for word, while the transcript exists."""

from __future__ import annotations

import time
from collections.abc import Iterator

from holdfast.brief import fence
from holdfast.memory import places
from holdfast.memory.answer import Expanded
from holdfast.memory.errors import NotFound, OfIndex
from holdfast.memory.index import engines
from holdfast.memory.index.shape import Index
from holdfast.memory.item import SEGMENT, Item

USUAL_CHARS = 8_000
FENCE_CHARS = 400


def expand(
    item_id: str, *, project: str = "", most_chars: int = USUAL_CHARS, offset: int = 0
) -> Expanded:
    """The original turns from character `offset` on; what was kept, where they are gone."""
    item, notes = _find(item_id, places.resolved(project))
    text, more = _original(item)
    notes += more
    if item.kind == SEGMENT:
        _was_read(item)
    gone = bool(not text and (item.uuids or item.first_turn))
    text = text or _kept(item)
    end = offset + max(1, most_chars)
    shown = text[offset:end]
    origin = f"{item.kind} {item.id}, {item.file or 'kept by Holdfast'}"
    whole = "\n".join([fence.opening(fence.flat(origin, FENCE_CHARS)), shown, fence.closing()])
    return Expanded(item, whole, gone, end if end < len(text) else 0, notes)


def _find(item_id: str, project: str) -> tuple[Item, list[str]]:
    """With what could not be asked: one index holds up no other."""
    notes: list[str] = []
    for index in _indexes(project, notes):
        try:
            if found := index.find(item_id):
                return found, notes
        except OfIndex as slip:
            notes.append(f"left out: {slip}")
    raise NotFound("; ".join([f"there is no {fence.flat(item_id, 80)!r}", *notes]))


def _indexes(project: str, notes: list[str]) -> Iterator[Index]:
    """The project's own first."""
    if places.stamp(places.index_file(project)):
        try:
            own = engines.opened(project)
        except OfIndex as slip:  # the next search makes it again, and says so
            notes.append(f"left out: {slip}")
        else:
            yield own
    yield from engines.others(project, notes)


def _original(item: Item) -> tuple[str, list[str]]:
    if not (item.uuids or item.first_turn) or not item.file:
        return "", []
    if not places.stamp(item.file):
        return "", [f"the transcript {item.file} is gone: this is what was kept of it"]
    from holdfast.memory import original

    text = original.text(item)
    if text:
        return text, []
    return "", [f"these turns are not in {item.file} any more: this is what was kept of them"]


def _was_read(item: Item) -> None:
    """A segment somebody reads stays warm for longer."""
    from holdfast.memory.sources.segments import segment_id
    from holdfast.segment import shelf

    shelf.note_access(segment_id(item.id), int(time.time() * 1000))


def _kept(item: Item) -> str:
    parts = (item.title, item.text, item.more)
    return "\n".join(fence.line(part) for part in parts if part)
