"""Show what is behind an id: the turns that a search result came from, word for word, while the
transcript exists; a tool's output; a compressed segment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdfast.archive import outputs, transcripts
from holdfast.memory import engines, locations, session_sources
from holdfast.memory.index import Index, UnusableIndex
from holdfast.memory.item import PAGE_CHARS, SEGMENT, TURN, Item
from holdfast.memory.sync import SYNC_SECONDS, sync_project
from holdfast.redact.find import redact
from holdfast.segment import formats, library
from holdfast.text import fence
from holdfast.transcript import lookup
from holdfast.window.health import name_call
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.record.model import TurnPart

T = TypeVar("T")
MOST_CHARS = 2_000_000  # of the turns; of one output a tenth
FENCE_CHARS = 400
MOST_TRANSCRIPTS = 20  # searched for one tool result


class NotFound(HoldfastError):
    """No item has this id."""

    exit_code = 1
    hint = "`holdfast search QUERY` lists ids; what its source no longer has is gone here too"


class Forgotten(NotFound):
    """The turn is unknown, or was removed together with its transcript."""

    hint = (
        "turns are forgotten with their transcript, once it is deleted; segments, decisions and "
        "checkpoints made of them stay: holdfast search finds those"
    )


class FitsSeveral(HoldfastError):
    """The word is the start of more than one id."""

    exit_code = 2
    hint = "write more of its characters"


class FullText(NamedTuple):
    """A text, or a part of one. Callers show it in a fence that names its `origin`.
    `next_offset` is where the next part begins; 0 at the end."""

    id: str
    kind: str
    text: str
    origin: str
    next_offset: int = 0
    notes: tuple[str, ...] = ()
    gone: bool = False  # the transcript is gone: the text is what was saved
    item: Item | None = None  # what a search found

    def fenced(self) -> str:
        return "\n".join([fence.opening(self.origin), self.text, fence.closing()])

    def plain(self) -> dict[str, Any]:
        """Return it as JSON types, with where it was said."""
        rest = {name: value for name, value in self._asdict().items() if name != "item"}
        item = self.item
        return {
            **rest,
            "session": item.session if item else "",
            "source": item.file if item else "",
            "turns": [item.first_turn, item.last_turn] if item and item.first_turn else [],
        }


def expand(
    word: str, *, project: str = "", offset: int = 0, most_chars: int = PAGE_CHARS, find: str = ""
) -> FullText:
    """Return what is behind an id, or behind the only id that begins with this word, from character
    `offset` on; with `find`, only lines that contain these words."""
    whole = _read(word, locations.resolve(project))
    if find.strip():
        found = outputs.excerpt_with(whole.text, find, offset, most_chars)
    else:
        found = outputs.excerpt_at(whole.text, offset, most_chars)
    notes = list(whole.notes)
    if not found.text and find.strip() and not found.chars:
        notes.append(f"no line holds {fence.flat(find, 80)!r}")
    elif not found.text and offset >= found.chars:
        notes.append(f"it ends at character {found.chars:,}: there is nothing from {offset:,} on")
    return whole._replace(
        text=fence.clean(found.text),
        origin=fence.flat(f"{whole.kind} {whole.id}{whole.origin}", FENCE_CHARS),
        next_offset=found.next_offset,
        notes=tuple(notes),
    )


def _read(word: str, project: str) -> FullText:
    """Read the whole text, and behind a comma where it is from."""
    if outputs.is_output(word):
        return FullText(word, "output", outputs.load(word), "")
    if lookup.is_id(word):
        return _result(word, project)
    if segment := library.find(word):
        _note_access(word)
        origin = "" if library.is_own(segment) else f", {formats.FOREIGN}"
        return FullText(word, "segment", formats.render(segment), origin)
    return _read_entry(word, project)


def _read_entry(word: str, project: str) -> FullText:
    """Read an entry of an index, which is brought up to date if nothing begins with the word."""
    notes: list[str] = []
    for is_fresh in (False, True) if word else ():
        if is_fresh:
            with suppress(HoldfastError):
                sync_project(project, seconds=SYNC_SECONDS)
        notes = []
        if item := next(_ask_indexes(lambda one: one.find(word), project, notes), None):
            return _entry(item, notes)
        begun = {one.segment_id for one in library.find_by_prefix(word)}
        begun.update(outputs.find_ids(word))
        begun.update(*_ask_indexes(lambda one: one.beginning(word, 2), project, notes))
        if len(begun) > 1:
            raise FitsSeveral(f"several ids begin with {fence.flat(word, 80)}")
        if begun:
            return _read(begun.pop(), project)
    error = Forgotten if word.startswith(f"{TURN}-") else NotFound
    raise error("; ".join([f"nothing has the id {fence.flat(word, 80)!r}", *notes]))


def _entry(item: Item, notes: list[str]) -> FullText:
    text, more = _original(item)
    if item.kind == SEGMENT:
        _note_access(item.id.removeprefix(f"{SEGMENT}-"))
    gone = bool(not text and item.first_turn)
    text = text or "\n".join(map(fence.line, filter(None, (item.title, item.text, item.more))))
    told = (*notes, *more)
    return FullText(item.id, item.kind, text, f", {item.origin}", 0, told, gone, item)


def _note_access(segment_id: str) -> None:
    """A segment that is read stays warm for longer."""
    library.note_access(segment_id, int(time.time() * 1000))


def _ask_indexes(ask: Callable[[Index], T | None], project: str, notes: list[str]) -> Iterator[T]:
    """Ask each index in turn; note those that could not be asked."""
    for index in engines.all_indexes(project, notes):
        try:
            found = ask(index)
        except UnusableIndex as error:
            notes.append(f"left out: {error}")
            continue
        if found:
            yield found


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
    held += [(report.offset, f"agent: {report.text}") for report in part.reports]
    yield from (text for _, text in sorted(held, key=lambda one: one[0]))


def _result(word: str, project: str) -> FullText:
    """Return the result of a tool call, even if the client has cleared it from the window since.
    The newest transcripts are searched first, because most requests are about them."""
    known = session_sources.transcripts(project)
    plain = [path for path in known if not path.endswith(".gz")]
    for path in sorted(plain, key=places.modified_ms, reverse=True)[:MOST_TRANSCRIPTS]:
        with suppress(OSError):
            for call in lookup.find_calls(Path(path), [word]):
                text = redact(f"{name_call(call.use)}\n{call.result.text}")
                return FullText(word, "tool result", text, f", {path}")
    raise NotFound(f"no transcript of this project has the result of {fence.flat(word, 80)!r}")
