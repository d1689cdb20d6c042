"""What was done and said in a session since a given step, by the words it is called by.

The words of everything are taken once and kept: a summary of hundreds of lines is compared with
hundreds of wishes.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

from holdfast.brief.item import short
from holdfast.record.model import Record
from holdfast.text.sentences import LIGHT

STEM = 5  # letters by which forms of a word are the same: paint, painted
_ALWAYS = 1 << 60  # a step after every other
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")

Words = set[str]


class Traces:
    """What was edited, written, run, ticked off and said, each with the step it was last at."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def all_run(self, wanted: Words, since: int) -> bool:
        """Commands that passed since then hold all of these words between them."""
        return bool(wanted) and all(self._last_run.get(word, -1) > since for word in wanted)

    def any_done(self, wanted: Words, since: int) -> bool:
        """Something done since then holds one of these words."""
        return any(self._last_done.get(word, -1) > since for word in wanted)

    def half_done(self, wanted: Words, since: int) -> bool:
        """One thing done since then holds two of these words, and half of them."""
        shared = (len(wanted & words) for op, words in self._done if op > since)
        return any(count > 1 and 2 * count >= len(wanted) for count in shared)

    def half_said(self, wanted: Words, since: int) -> bool:
        """One text since then holds half of these words."""
        shared = (len(wanted & words) for op, words in self._said if op > since)
        return any(2 * count >= len(wanted) for count in shared)

    @cached_property
    def _runs(self) -> list[tuple[int, Words]]:
        return [(one.op, parts(key)) for key, one in self._record.commands.items() if one.ok]

    @cached_property
    def _done(self) -> list[tuple[int, Words]]:
        """A task that is ticked off counts whenever that was."""
        files, names = self._record.files.items(), self._record.names.items()
        ticked = (one.text for one in self._record.tasks.values() if not one.is_open)
        return [
            *((one.op, parts(short(path))) for path, one in files if one.edits),
            *((one.op, parts(name)) for name, one in names if one.file),
            *((_ALWAYS, parts(text)) for text in ticked),
            *self._runs,
        ]

    @cached_property
    def _said(self) -> list[tuple[int, Words]]:
        """The newest first: these are the likeliest to hold what is looked for."""
        turns = self._record.turns
        texts = [
            *((one.place.op, one.asked) for one in turns),
            *((one.said_op, one.said) for one in turns),
            *((one.place.op, one.text) for one in self._record.remarks),
        ]
        return [(op, telling(text)) for op, text in sorted(texts, reverse=True)]

    @cached_property
    def _last_run(self) -> dict[str, int]:
        return _last(self._runs)

    @cached_property
    def _last_done(self) -> dict[str, int]:
        return _last(self._done)


def _last(pieces: list[tuple[int, Words]]) -> dict[str, int]:
    """The last step at which each word was met."""
    found: dict[str, int] = {}
    for op, words in pieces:
        for word in words:
            found[word] = max(op, found.get(word, -1))
    return found


def parts(text: str) -> Words:
    """`addTideTable()` and `add-tide_tables.py` share three words."""
    found = {part.lower().rstrip("s") for part in _PART.findall(text)}
    return {part for part in found if len(part) > 3} - LIGHT


def telling(text: str) -> Words:
    """The words that tell what a text is about, by their stems."""
    plain = "".join(mark if mark.isalnum() or mark in "_./-" else " " for mark in text.lower())
    wide = (a + b for a, b in pairwise(plain) if a > "⺀" and b > "⺀")  # scripts without blanks
    found = (word.strip("./-") for word in plain.split())
    return {word[:STEM] if word.isalpha() else word for word in found if len(word) > 3} | set(wide)
