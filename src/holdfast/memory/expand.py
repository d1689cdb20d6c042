"""Show what is behind an id: the turns that a search result came from, word for word, while the
transcript exists; a tool's output; a compressed segment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdfast.archive import outputs, transcripts
from holdfast.memory import engines, locations, sessions
from holdfast.memory.errors import FitsSeveral, Forgotten, NotFound, OfIndex
from holdfast.memory.index import Index
from holdfast.memory.item import PAGE_CHARS, SEGMENT, TURN, Item
from holdfast.memory.sync import SYNC_SECONDS, sync_project
from holdfast.redact import redact
from holdfast.segment import formats, library
from holdfast.text import fence
from holdfast.transcript import lookup
from holdfast.window.cleared import name_call
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.record.turn_part import TurnPart

USUAL_CHARS = 8_000
MOST_CHARS = 2_000_000  # of the turns; of one output a tenth
FENCE_CHARS = 400
MOST_SEARCHED = 10_000_000
MOST_TRANSCRIPTS = 20  # searched for one tool result
T = TypeVar("T")


class Expanded(NamedTuple):
    """The original turns, fenced as reference. `more` is the offset of the next part; 0 at the
    end."""

    item: Item
    text: str
    gone: bool  # the transcript is gone: the text is what was saved
    more: int
    notes: list[str]

    def plain(self) -> dict[str, Any]:
        return {
            "id": self.item.id,
            "kind": self.item.kind,
            "session": self.item.session,
            "source": self.item.file,
            "turns": [self.item.first_turn, self.item.last_turn] if self.item.first_turn else [],
            "gone": self.gone,
            "text": self.text,
            "more": self.more,
            "notes": self.notes,
        }


def expand(
    item_id: str, *, project: str = "", most_chars: int = USUAL_CHARS, offset: int = 0
) -> Expanded:
    """Return the original turns from character `offset` on, or the stored text if they are gone.
    The start of an id is enough if it is unique."""
    item, notes = _find(item_id, locations.resolve(project))
    text, more = _original(item)
    notes += more
    if item.kind == SEGMENT:  # it stays warm for longer
        library.note_access(item.id.removeprefix(f"{SEGMENT}-"), int(time.time() * 1000))
    gone = bool(not text and item.first_turn)
    text = text or "\n".join(map(fence.line, filter(None, (item.title, item.text, item.more))))
    end = offset + max(1, most_chars)
    shown = text[offset:end]
    origin = f"{item.kind} {item.id}, {item.origin}"
    whole = "\n".join([fence.opening(fence.flat(origin, FENCE_CHARS)), shown, fence.closing()])
    return Expanded(item, whole, gone, end if end < len(text) else 0, notes)


def _find(item_id: str, project: str) -> tuple[Item, list[str]]:
    """Find an entry by its id, or by a segment's id as other commands print it. If it is not found,
    the index is brought up to date and asked again."""
    notes: list[str] = []
    for is_fresh in (False, True):
        if is_fresh:
            with suppress(HoldfastError):
                sync_project(project, seconds=SYNC_SECONDS)
        for name in (item_id, f"{SEGMENT}-{item_id}"):
            item, notes = _find_item(name, project)
            if item:
                return item, notes
    error = Forgotten if item_id.startswith(f"{TURN}-") else NotFound
    raise error("; ".join([f"there is no {fence.flat(item_id, 80)!r}", *notes]))


def _find_item(name: str, project: str) -> tuple[Item | None, list[str]]:
    found, notes = _ask_indexes(lambda one: one.find(name), project)
    if item := next(found, None):
        return item, notes
    meant = _only(name, _ids_beginning(name, project))
    return _find_item(meant, project) if meant else (None, notes)


def _ids_beginning(start: str, project: str) -> list[str]:
    """List ids that begin with `start`, enough of them to tell whether it is unique."""
    found, _ = _ask_indexes(lambda one: one.beginning(start, 2), locations.resolve(project))
    return sorted({item_id for some in found for item_id in some}) if start else []


def _only(start: str, ids: Sequence[str]) -> str:
    """Return the only id that `start` fits; empty if there is none. Raises FitsSeveral."""
    if len(set(ids)) > 1:
        raise FitsSeveral(f"several ids begin with {fence.flat(start, 80)}")
    return ids[0] if ids else ""


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
    if not item.first_turn or not item.file:
        return "", []
    notes = []
    if not locations.stamp(item.file) and (copy := transcripts.copy_of(item.file)):
        notes = [f"Claude Code has deleted {item.file}: these turns are from the copy {copy}"]
        item = item._replace(file=copy, offset=0)  # lines move when secrets are removed
    if not locations.stamp(item.file):
        return "", [f"the transcript {item.file} is gone: this is what was saved of it"]
    if text := read_turns_of(item):
        return text, notes
    return "", [f"these turns are not in {item.file} any more: this is what was saved of them"]


def read_turns_of(item: Item) -> str:
    """Return the turns that an entry was made of as text; empty if they are gone."""
    from holdfast.record.stream import read_turns

    is_agent, most = bool(item.agent), MOST_CHARS // 10
    chosen: list[TurnPart] = []
    with suppress(OSError):
        for part in read_turns(item.file, start=item.offset, sidechain=is_agent, output_chars=most):
            if not chosen and item.uuids and part.first_uuid != item.uuids[0]:
                continue
            is_later = item.kind != SEGMENT or part.at > item.at
            if chosen and part.turn != chosen[0].turn and is_later:
                break
            chosen.append(part)
    lines = (fence.line(line) for part in chosen for line in _render(part))
    return "\n".join(lines)[:MOST_CHARS]


def _render(part: TurnPart) -> Iterator[str]:
    """Yield what a part of a turn holds, in order."""
    if part.is_first and part.asked:
        yield f"user: {part.asked}"
    yield from (f"user, while the model worked: {text}" for text in part.queued)
    yield from (f"not certain who said this: {text}" for text in part.unsure)
    held = [(one.offset, f"model: {one.text}") for one in part.texts]
    for call in part.calls:
        held.append((call.offset, f"call: {call.tool} {call.what}"))
        if call.end:
            held.append((call.end, f"{'error' if call.is_error else 'result'}: {call.output}"))
        held += [(call.end, f"asked: {asked}\nuser: {said}") for asked, said in call.questions]
    held += [(one.offset, f"agent: {one.text}") for one in part.reports]
    yield from (text for _, text in sorted(held, key=lambda one: one[0]))


class FullText(NamedTuple):
    """A part of a full text. Callers show it in a fence that names its `origin`.
    `next_offset` is where the next part begins; 0 at the end."""

    id: str
    kind: str
    text: str
    origin: str
    next_offset: int = 0
    notes: tuple[str, ...] = ()


class _Text(NamedTuple):
    id: str
    kind: str
    whole: str
    source: str = ""
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
    if find.strip():
        found = outputs.excerpt_with(text.whole, find, offset, most_chars)
    else:
        found = outputs.excerpt_at(text.whole, offset, most_chars)
    notes = list(text.notes)
    if not found.text and find.strip() and not found.chars:
        notes.append(f"no line holds {fence.flat(find, 80)!r}")
    elif not found.text and offset >= found.chars:
        notes.append(f"it ends at character {found.chars:,}: there is nothing from {offset:,} on")
    origin = fence.flat(f"{text.kind} {text.id}{text.source}", FENCE_CHARS)
    shown = fence.clean(found.text)
    return FullText(text.id, text.kind, shown, origin, found.next_offset, tuple(notes))


def _text(word: str, now_ms: int, project: str) -> _Text:
    """Read the text behind an id, or behind the only id that begins with this word."""
    if outputs.is_output(word):
        return _Text(word, "output", outputs.load(word).text)
    if lookup.is_id(word):
        return _result(word, project)
    segment = library.find(word)
    if segment is not None:
        library.note_access(word, now_ms)
        origin = "" if library.is_own(segment) else f", {formats.FOREIGN}"
        return _Text(word, "segment", formats.render(segment), origin)
    if (meant := _meant(word, project)) != word:
        return _text(meant, now_ms, project)
    item = expand(word, project=project, most_chars=MOST_SEARCHED)
    source = f", {item.item.origin}"
    return _Text(word, item.item.kind, fence.inside(item.text), source, tuple(item.notes))


def _result(word: str, project: str) -> _Text:
    """Return the result of a tool call, even if the client has cleared it from the window since.
    The newest transcripts are searched first, because most requests are about them."""
    known = sessions.transcripts(locations.resolve(project))
    plain = [path for path in known if not path.endswith(".gz")]
    for path in sorted(plain, key=_changed, reverse=True)[:MOST_TRANSCRIPTS]:
        with suppress(OSError):
            for one in lookup.find_calls(Path(path), [word]):
                text = redact(f"{name_call(one.use)}\n{one.result.text}")
                return _Text(word, "tool result", text, f", {path}")
    raise NotFound(f"no transcript of this project has the result of {fence.flat(word, 80)!r}")


def _changed(path: str) -> float:
    with suppress(OSError, ValueError):
        return os.stat(path).st_mtime  # noqa: PTH116
    return 0.0


def _meant(start: str, project: str) -> str:
    """Return the only id of any kind that begins with `start`; `start` itself if there is none."""
    items = _ids_beginning(start, project)
    if start in items or not start:
        return start
    named = (one.segment_id for one in library.find_by_prefix(start))
    return _only(start, [*outputs.find_ids(start), *named, *items]) or start
