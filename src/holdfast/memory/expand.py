"""Show the turns that an item came from, word for word, while the transcript exists."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from holdfast.archive import transcripts
from holdfast.memory import locations
from holdfast.memory.errors import FitsSeveral, Forgotten, NotFound, OfIndex
from holdfast.memory.index import engines
from holdfast.memory.index.interface import Index
from holdfast.memory.item import SEGMENT, TURN, Item
from holdfast.memory.results import Expanded
from holdfast.memory.sources.source import MOST_PIECES
from holdfast.memory.sync import SYNC_SECONDS, sync_project
from holdfast.text import fence
from holdfast.wire.errors import HoldfastError

USUAL_CHARS = 8_000
FENCE_CHARS = 400
T = TypeVar("T")


def expand(
    item_id: str, *, project: str = "", most_chars: int = USUAL_CHARS, offset: int = 0
) -> Expanded:
    """Return the original turns from character `offset` on, or the stored text if they are gone.
    The start of an id is enough if it is unique."""
    item, notes = _find(item_id, locations.resolve(project))
    text, more = _original(item)
    notes += more
    if item.kind == SEGMENT:
        _was_read(item)
    gone = bool(not text and (item.uuids or item.first_turn))
    text = text or _stored_text(item)
    end = offset + max(1, most_chars)
    shown = text[offset:end]
    origin = f"{item.kind} {item.id}, {item.origin}"
    whole = "\n".join([fence.opening(fence.flat(origin, FENCE_CHARS)), shown, fence.closing()])
    return Expanded(item, whole, gone, end if end < len(text) else 0, notes)


def ids_beginning(start: str, project: str = "") -> list[str]:
    """List ids that begin with `start`, enough of them to tell whether it is unique."""
    found, _ = _ask_indexes(
        lambda one: one.beginning(start, 2 + MOST_PIECES), locations.resolve(project)
    )
    return sorted({item_id for some in found for item_id in some}) if start else []


def only(start: str, ids: Sequence[str]) -> str:
    """Return the only id that `start` fits. The pieces of one long text count as its first. Raises
    FitsSeveral."""
    found = sorted(set(ids))
    if not all(one.startswith(f"{found[0]}.") for one in found[1:]):
        raise FitsSeveral(f"several ids begin with {fence.flat(start, 80)}")
    return found[0] if found else ""


def _find(item_id: str, project: str) -> tuple[Item, list[str]]:
    """Find an item by its id, or by a segment's id as other commands print it. If it is not found,
    the index is brought up to date and asked again."""
    names = (item_id, f"{SEGMENT}-{item_id}")
    notes: list[str] = []
    for is_fresh in (False, True):
        if is_fresh:
            _sync(project)
        for name in names:
            item, notes = _find_item(name, project)
            if item:
                return item, notes
    error = Forgotten if item_id.startswith(f"{TURN}-") else NotFound
    raise error("; ".join([f"there is no {fence.flat(item_id, 80)!r}", *notes]))


def _find_item(name: str, project: str) -> tuple[Item | None, list[str]]:
    found, notes = _ask_indexes(lambda one: one.find(name), project)
    if item := next(found, None):
        return item, notes
    meant = only(name, ids_beginning(name, project))
    return _find_item(meant, project) if meant else (None, notes)


def _sync(project: str) -> None:
    """Bring the index up to date, as a search does. If that fails, it is used as it is."""
    with suppress(HoldfastError):
        sync_project(project, seconds=SYNC_SECONDS)


def _ask_indexes(ask: Callable[[Index], T | None], project: str) -> tuple[Iterator[T], list[str]]:
    """Ask each index in turn. The notes list those that could not be asked, and are complete once
    all answers were read."""
    notes: list[str] = []

    def answers() -> Iterator[T]:
        for index in _indexes(project, notes):
            try:
                found = ask(index)
            except OfIndex as error:
                notes.append(f"left out: {error}")
                continue
            if found:
                yield found

    return answers(), notes


def _indexes(project: str, notes: list[str]) -> Iterator[Index]:
    """Yield the project's own index, then those of other projects."""
    if locations.stamp(locations.index_file(project)):
        try:
            own = engines.open_index(project)
        except OfIndex as error:  # the next search rebuilds it, with a note
            notes.append(f"left out: {error}")
        else:
            yield own
    yield from engines.other_indexes(project, notes)


def _original(item: Item) -> tuple[str, list[str]]:
    if not (item.uuids or item.first_turn) or not item.file:
        return "", []
    item, notes = _in_archive(item)
    if not locations.stamp(item.file):
        return "", [f"the transcript {item.file} is gone: this is what was saved of it"]
    from holdfast.memory import transcript_text

    text = transcript_text.text(item)
    if text:
        return text, notes
    return "", [f"these turns are not in {item.file} any more: this is what was saved of them"]


def _in_archive(item: Item) -> tuple[Item, list[str]]:
    """If the client has deleted the transcript, return the same item in its archived copy. The
    offset is reset, because lines move when secrets are removed."""
    copy = "" if locations.stamp(item.file) else transcripts.copy_of(item.file)
    if not copy:
        return item, []
    note = f"Claude Code has deleted {item.file}: these turns are from the archived copy {copy}"
    return item._replace(file=copy, offset=0), [note]


def _was_read(item: Item) -> None:
    """Note the access, so that the segment stays warm for longer."""
    from holdfast.memory.sources.documents import segment_id
    from holdfast.segment import library

    library.note_access(segment_id(item.id), int(time.time() * 1000))


def _stored_text(item: Item) -> str:
    parts = (item.title, item.text, item.more)
    return "\n".join(fence.line(part) for part in parts if part)
