"""How much of the user's words and the open work a summary tells: whole, in part, or not at all.

Summaries correct typing errors, cut long messages and put them into brackets. So words are
compared, without their marks and capitals: in order for what is told whole, by pairs of neighbours
and by what they name for what is told in part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from holdfast.brief import open_items, quotes
from holdfast.brief.complement import KEPT_BY_CLIENT
from holdfast.brief.item import BriefItem
from holdfast.brief.summary_passages import passages
from holdfast.brief.user_statements import telling, words_of
from holdfast.record.model import Record
from holdfast.text.sentences import sentences

TERSE_WORDS = 2  # "yes", "go on": only as a message of their own are they told
WHOLE = 0.8  # of the pairs of words: the rest is a corrected typing error
PART = 0.6  # of the pairs of words of the shorter text
NAMED, NAMED_ELSEWHERE = 0.5, 0.65  # of the things named: in the list of messages, outside of it
LEAST_PAIRS, LEAST_NAMED = 4, 3
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`")
_PATH = re.compile(r"\S*[/\\]\S*")  # the same files are named in many a sentence
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
# What a line of ours says beside the words: a mark before them, since when or what they answer
# behind them.
_BEFORE = re.compile(r"(?:planned|proposed to the user|doing(?:, its subagents are done)?): ")
_BEHIND = re.compile(r" \((?:since turn|to “|interrupted|taken back|[\d,]+ characters).*$")


class Coverage(Enum):
    """How a summary tells a thing."""

    WHOLE = "whole"
    PART = "part"
    NONE = "none"


class _Text(NamedTuple):
    pairs: frozenset[tuple[str, str]]
    named: frozenset[str]
    is_users: bool  # it stands in the list of what the user said

    @classmethod
    def of(cls, text: str, *, is_users: bool = True) -> _Text:
        text = _PATH.sub(" ", text)
        return cls(frozenset(pairwise(words_of(text))), frozenset(telling(text)), is_users)


class SummaryContents(NamedTuple):
    """The user's words and what is open, by how a summary tells it."""

    kept: list[BriefItem]
    shortened: list[BriefItem]  # words of the user, told in part or in other words
    lost: list[BriefItem]


def contents_of(summary: str, record: Record) -> SummaryContents:
    """Of what failed only what is to be mended counts, and nothing that the user took back. The
    client itself brings open questions back."""
    found = [
        *quotes.items(record, quotes.wanted(record)),
        *open_items.tasks(record),
        *open_items.failing(record, 1),
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


class SummaryCoverage:
    """One summary, ready to be asked."""

    def __init__(self, summary: str) -> None:
        messages = list(_messages(summary))
        self._words = f" {' '.join(words_of(summary))} "
        self._terse = {" ".join(words_of(one)) for one in messages}
        self._quoted = [_Text.of(one) for one in messages]
        self._passages = [_Text.of(one.text, is_users=one.is_users) for one in passages(summary)]

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
        if any(_shares(wanted, one, WHOLE) for one in self._passages):
            return Coverage.WHOLE
        is_part = any(_is_quoted(wanted, one) for one in self._quoted) or self._is_retold(text)
        return Coverage.PART if is_part else Coverage.NONE

    def _is_retold(self, text: str) -> bool:
        """Told in other words: each sentence of it, or its rule may be the one that is missing."""
        parts = [one for one in map(_Text.of, sentences(text)) if len(one.named) >= LEAST_NAMED]
        return bool(parts) and all(
            any(_is_named(part, one) for one in self._passages) for part in parts
        )


def _messages(summary: str) -> Iterator[str]:
    """Quotations, and the lines of the list of the user's messages without remarks on them."""
    yield from (found[1] or found[2] or found[3] for found in _QUOTED.finditer(summary))
    yield from (_ASIDE.sub(" ", one.text) for one in passages(summary) if one.is_users)


def _texts(item: BriefItem) -> list[str]:
    """The words themselves; of a failing command its errors too."""
    first, *others = item.text.split("\n")
    first = _BEHIND.sub("", _BEFORE.sub("", first, count=1))
    return [first.removesuffix(" …”"), *others]


def _shares(wanted: _Text, told: _Text, share: float) -> bool:
    shared = len(wanted.pairs & told.pairs)
    return shared >= LEAST_PAIRS and shared >= share * len(wanted.pairs)


def _is_quoted(wanted: _Text, told: _Text) -> bool:
    """A piece of it stands there."""
    shared = len(wanted.pairs & told.pairs)
    return shared >= max(LEAST_PAIRS, PART * min(len(wanted.pairs), len(told.pairs)))


def _is_named(wanted: _Text, told: _Text) -> bool:
    named = len(wanted.named & told.named)
    share = NAMED if told.is_users else NAMED_ELSEWHERE
    return named >= LEAST_NAMED and named >= share * len(wanted.named)
