"""The whole text behind an id, whatever it is the id of: an archived output, a segment, an item
that recall found."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.archive import piece
from holdfast.archive import shelf as outputs
from holdfast.brief import fence
from holdfast.memory.expand import expand
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
    if outputs.is_output(word):
        found = outputs.expand(word, offset=offset, most_chars=most_chars, find=find)
        return _told(word, "output", found)
    segment = segments.find(word)
    if segment is not None:
        segments.note_access(word, now_ms)
        return _told(word, "segment", _part(segment.compressed_content, offset, most_chars, find))
    item = expand(word, project=project, most_chars=MOST_SEARCHED)
    source = item.item.file or "kept by Holdfast"
    part = _part(fence.inside(item.text), offset, most_chars, find)
    told = _told(word, item.item.kind, part, source)
    return told._replace(notes=tuple(item.notes))


def _part(text: str, offset: int, most_chars: int, find: str) -> piece.Piece:
    if find.strip():
        return piece.with_words(text, find, offset, most_chars)
    return piece.from_offset(text, offset, most_chars)


def _told(word: str, kind: str, found: piece.Piece, source: str = "") -> Whole:
    origin = f"{kind} {word}, {source}" if source else f"{kind} {word}"
    text = fence.clean(found.text)
    return Whole(word, kind, text, fence.flat(origin, MOST_ORIGIN), found.next_offset)
