"""The whole text behind an id, whatever it is the id of: an archived output, a segment, an item
that recall found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.archive import piece
from holdfast.archive import shelf as outputs
from holdfast.brief import fence
from holdfast.memory.expand import beginning, expand, only
from holdfast.segment import formats
from holdfast.segment import shelf as segments

USUAL_CHARS = 5_000
MOST_SEARCHED = 10_000_000
MOST_ORIGIN = 400


class Whole(NamedTuple):
    """Whoever shows `text` fences it, as from its `origin`. `next_offset` goes on from here; 0:
    this was the end."""

    id: str
    kind: str
    text: str
    origin: str
    next_offset: int = 0
    notes: tuple[str, ...] = ()


def whole(
    word: str,
    *,
    now_ms: int,
    project: str = "",
    offset: int = 0,
    most_chars: int = USUAL_CHARS,
    find: str = "",
) -> Whole:
    """From a character on; with `find`, only the lines that hold these words."""
    text = _text(word, now_ms, project)
    found = _part(text.whole, offset, most_chars, find)
    notes = (*text.notes, *_nothing(found, offset, find))
    origin = fence.flat(f"{text.kind} {text.id}{text.source}", MOST_ORIGIN)
    return Whole(text.id, text.kind, fence.clean(found.text), origin, found.next_offset, notes)


class _Text(NamedTuple):
    id: str
    kind: str
    whole: str
    source: str = ""
    notes: tuple[str, ...] = ()


def _text(word: str, now_ms: int, project: str) -> _Text:
    """Of what has this id, or else alone begins so."""
    if outputs.is_output(word):
        return _Text(word, "output", outputs.load(word).text)
    segment = segments.find(word)
    if segment is not None:
        segments.note_access(word, now_ms)
        return _Text(word, "segment", formats.shown(segment))
    if (meant := _meant(word, project)) != word:
        return _text(meant, now_ms, project)
    item = expand(word, project=project, most_chars=MOST_SEARCHED)
    source = f", {item.item.file or 'kept by Holdfast'}"
    return _Text(word, item.item.kind, fence.inside(item.text), source, tuple(item.notes))


def _meant(start: str, project: str) -> str:
    """The one id that begins so, of whatever it is; the word itself where none does."""
    items = beginning(start, project)
    if start in items or not start:
        return start
    named = (one.segment_id for one in segments.beginning(start))
    return only(start, [*outputs.beginning(start), *named, *items]) or start


def _nothing(found: piece.Piece, offset: int, find: str) -> Iterator[str]:
    """Why there is nothing to show, where there is not."""
    if found.text:
        return
    if find.strip() and not found.chars:
        yield f"no line holds {fence.flat(find, 80)!r}"
    elif offset >= found.chars:
        yield f"it ends at character {found.chars:,}: there is nothing from {offset:,} on"


def _part(text: str, offset: int, most_chars: int, find: str) -> piece.Piece:
    if find.strip():
        return piece.with_words(text, find, offset, most_chars)
    return piece.from_offset(text, offset, most_chars)
