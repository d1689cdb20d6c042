"""Back from an item to the turns it came from, word for word, while the transcript exists."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

from holdfast.brief import fence
from holdfast.memory import places
from holdfast.memory.answer import Expanded
from holdfast.memory.errors import Damaged, NotFound
from holdfast.memory.index import engines
from holdfast.memory.index.shape import Index
from holdfast.memory.item import SEGMENT, Item
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

USUAL_CHARS = 8_000
FENCE_CHARS = 400


def expand(
    item_id: str, *, project: str = "", most_chars: int = USUAL_CHARS, offset: int = 0
) -> Expanded:
    """The original turns from character `offset` on; what was kept, where they are gone."""
    item = _find(item_id, places.resolved(project))
    text, notes = _original(item)
    if item.kind == SEGMENT:
        _was_read(item)
    gone = bool(not text and (item.uuids or item.first_turn))
    text = text or _kept(item)
    end = offset + max(1, most_chars)
    shown = text[offset:end]
    origin = f"{item.kind} {item.id}, {item.file or 'kept by Holdfast'}"
    whole = "\n".join([fence.opening(fence.flat(origin, FENCE_CHARS)), shown, fence.closing()])
    return Expanded(item, whole, gone, end if end < len(text) else 0, notes)


def _find(item_id: str, project: str) -> Item:
    for index in _indexes(project):
        if found := index.find(item_id):
            return found
    raise NotFound(f"there is no {fence.flat(item_id, 80)!r}")


def _indexes(project: str) -> Iterator[Index]:
    """The project's own first."""
    if places.stamp(places.index_file(project)):
        with suppress(Damaged):  # the next search makes it again, and says so
            yield engines.opened(project)
    yield from engines.others(project, [])


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

    try:
        shelf.note_access(segment_id(item.id), int(time.time() * 1000))
    except (HoldfastError, OSError) as slip:
        log.add("WARN", "recall", f"{item.id} was read, and that was not noted: {slip}")


def _kept(item: Item) -> str:
    parts = (item.title, item.text, item.more)
    return "\n".join(fence.line(part) for part in parts if part)
