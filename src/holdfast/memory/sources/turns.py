"""A transcript as items: what the user said, and what the model said with what it did.

Answers without words are counted to the words before them. The last item of a file may not be
whole yet: reading begins again with it, at the same position.
"""

from __future__ import annotations

import json
import time

from holdfast.memory.item import Item
from holdfast.memory.sources import calls
from holdfast.memory.sources.looked import looked_through
from holdfast.memory.sources.source import HOW, Read
from holdfast.memory.sources.told import Told
from holdfast.memory.sources.unit import LONGEST_TEXT, MORE_CHARS, Reached, Unit
from holdfast.record.same_file import sign
from holdfast.record.user_input import own_words, queued_words
from holdfast.transcript.blocks import Text, ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Attachment, Entry, Prompt, Result
from holdfast.transcript.reader import Reader
from holdfast.transcript.repair import decoded
from holdfast.transcript.source import Unreadable
from holdfast.transcript.user_words import without_briefs

USER, MODEL = "user", "model"
MOST_TOGETHER = 64
MOST_ITEMS = 5_000  # in one reading: a transaction stays short
_ASKING_US = "/holdfast:search "  # a question is no answer to the next one like it


class _Fold:
    def __init__(self, path: str, reached: Reached, is_agent: bool, key: str) -> None:
        self._path, self._is_agent, self._from = path, is_agent, reached.offset
        self._key = key
        self.told = Told()
        self.items: list[Item] = []
        self.began = reached  # where the last unit began
        self._turn, self._message = reached.turn, reached.message
        self._position = reached.position
        self._unit: Unit | None = None
        self._last: Unit | None = None  # the open one, or the one that was
        self._closed: list[Unit] = []
        self._looked_back: set[str] = set()  # calls of the unit that is open

    @property
    def count(self) -> int:
        """How many items there are, or will be at least."""
        return len(self.items) + len(self._closed)

    def feed(self, entry: Entry, is_clean: bool) -> None:
        """`is_clean`: it holds no secret, and need not be looked through for one."""
        if entry.is_sidechain and not self._is_agent:
            return
        if not is_clean:
            self.told.hear(entry)
        if isinstance(entry, Answer):
            self._answer(entry, is_clean)
        elif isinstance(entry, Prompt) and not entry.is_meta:
            self._prompt(entry, entry.text)
        elif isinstance(entry, Attachment) and entry.kind == "queued_command":
            self._prompt(entry, queued_words(decoded(entry.raw)))
        elif isinstance(entry, Result):
            self._result(entry, is_clean)

    def _open(self, by: str, entry: Entry) -> Unit:
        self.close()
        self._looked_back.clear()
        self.began = Reached(entry.offset, self._turn, self._position, self._message)
        self._unit = self._last = Unit(self.began, by, entry)
        return self._unit

    def close(self) -> None:
        unit, self._unit = self._unit, None
        if unit is not None and not unit.is_empty:
            self._closed.append(unit)
        if len(self._closed) == MOST_TOGETHER:
            self.settle()

    def settle(self) -> None:
        """Items of what was told to its end: looked through for secrets together, then counted."""
        closed, self._closed = self._closed, []
        for unit, words in zip(closed, self.told.without([u.words for u in closed]), strict=True):
            unit.put_at(self._position)
            made = unit.items(self._path, self._key, *words)
            self.items += made
            self._position += len(made)
        if self._last is not None:
            self._last.put_at(self._position)
            self.began = self._last.began

    def came_on(self, entry: Entry) -> bool:
        """True when the next reading would begin after where this one did: at what is being told,
        or, where nothing is, at this entry."""
        if self._unit is None:
            self.began = Reached(entry.offset, self._turn, self._position, self._message)
        return self.began.offset > self._from

    def clean_items(self) -> list[Item]:
        """What was named later was quoted before, too."""
        self.settle()
        without = self.told.without_told
        return [one._replace(text=without(one.text), more=without(one.more)) for one in self.items]

    def _prompt(self, entry: Entry, text: str) -> None:
        words = own_words(text[:LONGEST_TEXT])
        if words and not words.startswith(_ASKING_US):
            unit = self._open(USER, entry)
            unit.first_turn = unit.last_turn = self._turn + 1  # it is answered by the next
            unit.texts.append(words)
            unit.hold(entry)

    def _answer(self, entry: Answer, is_clean: bool) -> None:
        said = (without_briefs(one.text) for one in entry.blocks if isinstance(one, Text))
        texts = [text for text in said if text]
        if entry.message_id != self._message:
            self._turn += 1
            self._message = entry.message_id[:200]
        unit = self._unit
        if unit is None or unit.by != MODEL or self._begins_anew(unit, texts):
            unit = self._open(MODEL, entry)
        if texts:
            unit.message = self._message
        unit.last_turn = self._turn
        unit.texts += texts
        unit.hold(entry)
        for block in entry.blocks:
            if isinstance(block, ToolUse) and calls.looks_back(block):
                self._looked_back.add(block.id)
            elif isinstance(block, ToolUse):
                unit.add_more(calls.call(block, is_clean=is_clean))

    def _begins_anew(self, unit: Unit, texts: list[str]) -> bool:
        if texts:
            return bool(unit.texts) and unit.message != self._message
        return unit.more_chars >= MORE_CHARS

    def _result(self, entry: Result, is_clean: bool) -> None:
        if self._unit is None:
            return
        self._unit.hold(entry)
        for block in entry.results:
            if not isinstance(block, ToolResult) or self._unit.more_chars >= MORE_CHARS:
                continue
            if block.tool_use_id not in self._looked_back:
                text = without_briefs(block.text)
                self._unit.add_more(calls.ends(text, is_clean=is_clean))


def read(
    path: str, state: str, *, is_agent: bool = False, give_up: float = float("inf"), key: str = ""
) -> Read:
    """What is new in a transcript since a state; a file that is another one is read anew. Once it
    is too late, no more than what lets the next reading begin further on. `key` is what ids are
    made of, of an archived copy the client's own path."""
    reached = _reached(path, state)
    fold = _Fold(path, reached, is_agent, key or path)
    done = True
    try:
        fold.told.hear_again(path, reached.told)
        for entry, is_clean in looked_through(Reader(path, start=reached.offset)):
            fold.feed(entry, is_clean)
            is_late = time.monotonic() > give_up and fold.came_on(entry)
            if is_late or fold.count >= MOST_ITEMS:
                done = False
                break
    except Unreadable:
        return Read([], "", 0)
    if done:
        fold.close()
    return Read(fold.clean_items(), _state(path, fold), reached.position, done=done)


def _reached(path: str, state: str) -> Reached:
    try:
        found = Reached(*json.loads(state)) if state else Reached()
        lines = tuple(int(offset) for offset in found.told)
    except (ValueError, TypeError):
        return Reached()
    goes_on = found.how == HOW and found.sign == sign(path, found.offset) != ""
    return found._replace(told=lines) if goes_on else Reached()


def _state(path: str, fold: _Fold) -> str:
    began, lines = fold.began, tuple(fold.told.lines)
    return json.dumps(began._replace(sign=sign(path, began.offset), told=lines, how=HOW))
