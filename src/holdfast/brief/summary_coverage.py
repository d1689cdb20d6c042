"""How much of the user's words and the open work a summary contains: all, a part, or nothing.

Summaries correct typing errors, shorten long messages and put them into brackets. So words are
compared, without punctuation and capitals: in order to find complete messages, by pairs of
neighbours and by what they name to find parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain, pairwise
from typing import NamedTuple

from holdfast.brief import open_items, quotes
from holdfast.brief.compose import KEPT_BY_CLIENT
from holdfast.brief.item import BriefItem
from holdfast.brief.summary_passages import Passage, passages
from holdfast.record.model import Record
from holdfast.text.sentences import sentences

STEM_CHARS = 7  # "archive", "archives" and "archived" name one thing
TERSE_WORDS = 2  # "yes", "go on": they count only as a message of their own
WHOLE = 0.8  # of the pairs of words: the rest is a corrected typing error
PART = 0.6  # of the pairs of words of the shorter text
NAMED, NAMED_ELSEWHERE = 0.5, 0.65  # of the things named: in the list of messages, outside of it
LEAST_PAIRS, LEAST_NAMED = 4, 3
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
# A class leaves out what opens it too: otherwise each of a row of quotes is searched to the end.
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^“”\n]+)”|`([^`\n]+)`")
_PATH = re.compile(r"(?<!\S)[^\s/\\]*+[/\\]\S*")  # the same files are named in many sentences
_ASIDE = re.compile(r"\([^()]*\)|\[[^][]*\]")
# What a line of the brief adds to the words: a mark before them; after them, since when they are
# open or what they answer.
_BEFORE = re.compile(r"(?:planned|proposed to the user|doing(?:, its subagents are done)?): ")
_BEHIND = re.compile(r" \((?:since turn|to “|interrupted|taken back|[\d,]+ characters).*$")


class Coverage(Enum):
    """How much of an item a summary contains."""

    WHOLE = "whole"
    PART = "part"
    NONE = "none"


class _Text(NamedTuple):
    pairs: frozenset[tuple[str, str]]
    named: frozenset[str]
    is_users: bool  # it is in the list of the user's messages

    @classmethod
    def of(cls, text: str, *, is_users: bool = True) -> _Text:
        text = _PATH.sub(" ", text)
        return cls(frozenset(pairwise(words_of(text))), frozenset(telling_words(text)), is_users)


class SummaryContents(NamedTuple):
    """The user's words and what is open, by how much of it a summary contains."""

    kept: list[BriefItem]
    shortened: list[BriefItem]  # words of the user, told in part or in other words
    lost: list[BriefItem]


def contents_of(summary: str, record: Record) -> SummaryContents:
    """Sort the user's words and the open work by their coverage. Only failures that have to be
    fixed count, and nothing that the user took back. The client itself restores open questions."""
    found = [
        *quotes.items(record, quotes.needed_units(record)),
        *open_items.tasks(record),
        *open_items.failure_items(record, 1),
        *open_items.questions(record),
    ]
    covers, contents = SummaryCoverage(summary), SummaryContents([], [], [])
    by_coverage = dict(zip(Coverage, contents, strict=True))
    for one in found:
        if one.reason in ("done", quotes.WITHDRAWN) or one.order < 0 or one.section == "commands":
            continue
        is_brought_back = one.section in KEPT_BY_CLIENT
        by_coverage[Coverage.WHOLE if is_brought_back else covers.of(one)].append(one)
    return contents


class _Passages:
    """Texts by their pairs of words and by what they name. A long session asks for thousands of
    messages, and comparing each message with each text would take seconds."""

    def __init__(self, texts: Iterable[_Text]) -> None:
        self.texts = list(texts)
        self._by_pair: dict[tuple[str, str], list[int]] = {}
        self._by_name: dict[str, list[int]] = {}
        for number, one in enumerate(self.texts):
            for pair in one.pairs:
                self._by_pair.setdefault(pair, []).append(number)
            for name in one.named:
                self._by_name.setdefault(name, []).append(number)

    def with_pairs(self, wanted: _Text) -> Iterator[tuple[_Text, int]]:
        """Yield each text that shares enough pairs of words, and how many."""
        shared = Counter(chain.from_iterable(self._by_pair.get(one, ()) for one in wanted.pairs))
        return ((self.texts[n], count) for n, count in shared.items() if count >= LEAST_PAIRS)

    def with_names(self, wanted: _Text) -> Iterator[tuple[_Text, int]]:
        shared = Counter(chain.from_iterable(self._by_name.get(one, ()) for one in wanted.named))
        return ((self.texts[n], count) for n, count in shared.items() if count >= LEAST_NAMED)


class SummaryCoverage:
    """One summary, prepared for comparison."""

    def __init__(self, summary: str) -> None:
        known = list(passages(summary))
        messages = list(_messages(summary, known))
        self._words = f" {' '.join(words_of(summary))} "
        self._terse = {" ".join(words_of(one)) for one in messages}
        self._quoted = _Passages(map(_Text.of, messages))
        self._passages = _Passages(_Text.of(one.text, is_users=one.is_users) for one in known)

    def of(self, item: BriefItem) -> Coverage:
        """A failing command counts as told if its error is."""
        found = [self._of_text(text) for text in _texts(item)]
        if item.section == "said":
            return found[0]
        is_told = Coverage.WHOLE in found or (item.section == "failing" and Coverage.PART in found)
        return Coverage.WHOLE if is_told else Coverage.NONE

    def _of_text(self, text: str) -> Coverage:
        words = words_of(text)
        if len(words) <= TERSE_WORDS:
            return Coverage.WHOLE if " ".join(words) in self._terse else Coverage.NONE
        if f" {' '.join(words)} " in self._words:
            return Coverage.WHOLE
        wanted = _Text.of(text)
        enough = WHOLE * len(wanted.pairs)
        if any(shared >= enough for _, shared in self._passages.with_pairs(wanted)):
            return Coverage.WHOLE
        is_part = self._is_quoted(wanted) or self._is_retold(text)
        return Coverage.PART if is_part else Coverage.NONE

    def _is_quoted(self, wanted: _Text) -> bool:
        """Whether the summary quotes a part of it."""
        return any(
            shared >= PART * min(len(wanted.pairs), len(one.pairs))
            for one, shared in self._quoted.with_pairs(wanted)
        )

    def _is_retold(self, text: str) -> bool:
        """Whether the summary tells it in other words. Every sentence must be covered, because a
        missing one may be the rule."""
        parts = [one for one in map(_Text.of, sentences(text)) if len(one.named) >= LEAST_NAMED]
        return bool(parts) and all(map(self._is_named, parts))

    def _is_named(self, wanted: _Text) -> bool:
        return any(
            shared >= (NAMED if one.is_users else NAMED_ELSEWHERE) * len(wanted.named)
            for one, shared in self._passages.with_names(wanted)
        )


def words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def telling_words(text: str) -> set[str]:
    """Return the stems of the words that name something: longer ones, and numbers."""
    words = (word for word in words_of(text) if len(word) > 3 or not word.isalpha())
    return {word[:STEM_CHARS] for word in words}


def _messages(summary: str, known: Iterable[Passage]) -> Iterator[str]:
    """Yield quotations, and the lines in the list of the user's messages, without remarks on
    them."""
    yield from (found[1] or found[2] or found[3] for found in _QUOTED.finditer(summary))
    yield from (_ASIDE.sub(" ", one.text) for one in known if one.is_users)


def _texts(item: BriefItem) -> list[str]:
    """Return the words themselves; for a failing command, its errors too."""
    first, *others = item.text.split("\n")
    first = _BEHIND.sub("", _BEFORE.sub("", first, count=1))
    return [first.removesuffix(" …”"), *others]
