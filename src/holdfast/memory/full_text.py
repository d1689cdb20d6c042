"""The full text behind an id: of an archived output, a tool's result, a segment or a search
result."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.archive import outputs
from holdfast.memory import locations
from holdfast.memory.errors import NotFound
from holdfast.memory.expand import expand, ids_beginning, only
from holdfast.memory.item import PAGE_CHARS
from holdfast.memory.sources import calls, sessions
from holdfast.redact import redact
from holdfast.segment import formats
from holdfast.segment import library as segments
from holdfast.text import fence
from holdfast.transcript import lookup

MOST_SEARCHED = 10_000_000
MOST_TRANSCRIPTS = 20  # searched for one tool result
MOST_ORIGIN = 400


class FullText(NamedTuple):
    """A part of a full text. Whoever shows it puts it in a fence that names its `origin`.
    `next_offset` is where the next part begins; 0 at the end."""

    id: str
    kind: str
    text: str
    origin: str
    next_offset: int = 0
    notes: tuple[str, ...] = ()


def read_full_text(
    word: str,
    *,
    now_ms: int,
    project: str = "",
    offset: int = 0,
    most_chars: int = PAGE_CHARS,
    find: str = "",
) -> FullText:
    """Return the text from character `offset` on; with `find`, only lines that contain these
    words."""
    text = _text(word, now_ms, project)
    found = _part(text.whole, offset, most_chars, find)
    notes = (*text.notes, *_nothing(found, offset, find))
    origin = fence.flat(f"{text.kind} {text.id}{text.source}", MOST_ORIGIN)
    return FullText(text.id, text.kind, fence.clean(found.text), origin, found.next_offset, notes)


class _Text(NamedTuple):
    id: str
    kind: str
    whole: str
    source: str = ""
    notes: tuple[str, ...] = ()


def _text(word: str, now_ms: int, project: str) -> _Text:
    """Read the text behind an id, or behind the only id that begins with this word."""
    if outputs.is_output(word):
        return _Text(word, "output", outputs.load(word).text)
    if lookup.is_id(word):
        return _result(word, project)
    segment = segments.find(word)
    if segment is not None:
        segments.note_access(word, now_ms)
        origin = "" if segments.is_own(segment) else f", {formats.FOREIGN}"
        return _Text(word, "segment", formats.render(segment), origin)
    if (meant := _meant(word, project)) != word:
        return _text(meant, now_ms, project)
    item = expand(word, project=project, most_chars=MOST_SEARCHED)
    source = f", {item.item.origin}"
    return _Text(word, item.item.kind, fence.inside(item.text), source, tuple(item.notes))


def _result(word: str, project: str) -> _Text:
    """Return the result of a tool call, even if the client has cleared it from the window since.
    The newest transcripts are searched first, because most requests are about them."""
    known = [
        path
        for path in sessions.transcripts(locations.resolve(project))
        if not path.endswith(".gz")
    ]
    for path in sorted(known, key=_changed, reverse=True)[:MOST_TRANSCRIPTS]:
        with suppress(OSError):
            for one in lookup.find_calls(Path(path), [word]):
                text = redact(f"{calls.call(one.use)}\n{one.result.text}")
                return _Text(word, "tool result", text, f", {path}")
    raise NotFound(f"no transcript of this project has the result of {fence.flat(word, 80)!r}")


def _changed(path: str) -> float:
    with suppress(OSError, ValueError):
        return os.stat(path).st_mtime  # noqa: PTH116
    return 0.0


def _meant(start: str, project: str) -> str:
    """Return the only id of any kind that begins with `start`; `start` itself if there is none."""
    items = ids_beginning(start, project)
    if start in items or not start:
        return start
    named = (one.segment_id for one in segments.find_by_prefix(start))
    return only(start, [*outputs.find_ids(start), *named, *items]) or start


def _nothing(found: outputs.Excerpt, offset: int, find: str) -> Iterator[str]:
    """Say why nothing is shown, if that is so."""
    if found.text:
        return
    if find.strip() and not found.chars:
        yield f"no line holds {fence.flat(find, 80)!r}"
    elif offset >= found.chars:
        yield f"it ends at character {found.chars:,}: there is nothing from {offset:,} on"


def _part(text: str, offset: int, most_chars: int, find: str) -> outputs.Excerpt:
    if find.strip():
        return outputs.excerpt_with(text, find, offset, most_chars)
    return outputs.excerpt_at(text, offset, most_chars)
