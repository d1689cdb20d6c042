"""Secrets that a transcript names once, recognised where it quotes them without their names.

A later run must know them too, and none may be stored. So the offsets of the lines that named one
are stored, and those lines are read again.

Entries are checked for secrets many at once: looking for 150 words takes 0.1 ms however short the
text is, and nine of ten entries are short. If all of them together hold none, each holds none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from holdfast.memory.sources import calls
from holdfast.record.secrets import MOST_BARE, READ_CHARS, SHORTEST_BARE, texts
from holdfast.record.user_input import texts_in
from holdfast.redact import find, redact, which_are_clean
from holdfast.redact.value import looks_random
from holdfast.transcript.blocks import Text, ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Attachment, Entry, Prompt, Result
from holdfast.transcript.reader import read_at

MOST_LINES = 64
MOST_ENTRIES, MOST_CHARS = 64, 256 << 10


class KnownSecrets:
    """Secrets found so far; `lines`: the offsets of lines that named a new one."""

    def __init__(self) -> None:
        self.lines: list[int] = []
        self._values: dict[str, str] = {}
        self._by_length: list[str] = []  # the longest first: one may contain another

    def learn(self, entry: Entry) -> None:
        if len(self._values) >= MOST_BARE:
            return
        before = len(self._values)
        text = "\n".join(texts_of(entry, _ends))
        for one in find(text):
            for value in text[one.start : one.end].split("\n"):
                if len(value) >= SHORTEST_BARE and looks_random(value):
                    self._values.setdefault(value, one.placeholder)
        if len(self._values) > before and len(self.lines) < MOST_LINES:
            self.lines.append(entry.offset)

    def learn_from_lines(self, path: str, lines: Iterable[int]) -> None:
        for entry in read_at(path, list(lines)[:MOST_LINES]):
            self.learn(entry)

    def without(self, groups: Sequence[Sequence[str]]) -> list[list[str]]:
        """Remove every secret from groups of texts: named in them, or known before."""
        clean = which_are_clean(["\n".join(some) for some in groups])
        kept = [
            some if is_clean else [redact(text) for text in some]
            for some, is_clean in zip(groups, clean, strict=True)
        ]
        return [[self.without_known(text) for text in some] for some in kept]

    def without_known(self, text: str) -> str:
        if len(self._by_length) < len(self._values):
            self._by_length = sorted(self._values, key=len, reverse=True)
        for value in self._by_length:
            text = text.replace(value, self._values[value])
        return text


def texts_of(entry: Entry, of_result: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the texts of an entry that may name a secret. `of_result` selects the parts of a
    result."""
    if isinstance(entry, Prompt):
        yield entry.text
    elif isinstance(entry, Attachment):
        if entry.kind == "queued_command":
            yield from texts_in(entry)
    elif isinstance(entry, Answer):
        for block in entry.blocks:
            if isinstance(block, Text):
                yield block.text
            elif isinstance(block, ToolUse):
                yield from texts(block.input)
    elif isinstance(entry, Result):
        for result in entry.results:
            if isinstance(result, ToolResult):
                yield from of_result(result.text)


def _ends(text: str) -> tuple[str, str]:
    return text[:READ_CHARS], text[max(READ_CHARS, len(text) - READ_CHARS) :]


def check_entries(entries: Iterable[Entry]) -> Iterator[tuple[Entry, bool]]:
    """Yield each entry, with True if nothing that is indexed of it holds a secret."""
    some: list[Entry] = []
    words: list[str] = []
    for entry in entries:
        some.append(entry)
        words.append("\n".join(_words(entry)))
        if len(some) == MOST_ENTRIES or sum(map(len, words)) > MOST_CHARS:
            yield from zip(some, which_are_clean(words), strict=True)
            some, words = [], []
    yield from zip(some, which_are_clean(words), strict=True)


def _words(entry: Entry) -> Iterator[str]:
    """Yield every text of an entry that may be indexed or name a secret."""
    yield from texts_of(entry, calls.searched_parts)
    for block in entry.blocks if isinstance(entry, Answer) else ():
        what = calls.main_argument(block) if isinstance(block, ToolUse) else ""
        if len(what) > READ_CHARS:  # shorter ones were yielded above
            yield what[: calls.SEEN_CHARS]
