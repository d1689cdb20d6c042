"""How much of the user's words and the open work a summary holds.

A measure, and no verdict: the share of a text's telling words that stand together in one passage of
the summary, or of its words in order. What another language or other words tell is not found.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import NamedTuple

from holdfast.brief import open_items, quotes
from holdfast.brief.compose import KEPT_BY_CLIENT
from holdfast.brief.item import BriefItem
from holdfast.record.model import Record
from holdfast.text.telling import telling, words

TERSE_WORDS = 2  # "yes", "go on": they mean nothing in a summary
PASSAGE_LINES = 3
WHOLE, PART = 0.8, 0.5  # shares
_PATH = re.compile(r"(?<!\S)[^\s/\\]*+[/\\]\S*")  # the same files are named in many sentences
# What a line of the brief adds behind the words: since when they are open, what they answer.
_BEHIND = re.compile(r" \((?:since turn|to “|turn |interrupted|taken back|[\d,]+ characters).*$")


class SummaryContents(NamedTuple):
    """The user's words and what is open, by how much of it a summary holds."""

    kept: list[BriefItem]
    shortened: list[BriefItem]  # told in part
    lost: list[BriefItem]


def contents_of(summary: str, record: Record) -> SummaryContents:
    """Sort the user's words and the open work by how much of them the summary holds. Nothing that
    the user took back counts. The client itself restores open questions."""
    found = [
        *quotes.items(record, quotes.needed_units(record)),
        *open_items.tasks(record),
        *open_items.failure_items(record, 1),
        *open_items.questions(record),
    ]
    coverage, contents = SummaryCoverage(summary), SummaryContents([], [], [])
    for one in found:
        if one.reason in ("done", quotes.WITHDRAWN) or one.order < 0 or one.section == "commands":
            continue
        share = 1.0 if one.section in KEPT_BY_CLIENT else coverage.share_of(one)
        place = contents.kept if share >= WHOLE else contents.shortened
        (place if share >= PART else contents.lost).append(one)
    return contents


class SummaryCoverage:
    """One summary, prepared for comparison. A long session asks for thousands of messages."""

    def __init__(self, summary: str) -> None:
        self._words = f" {' '.join(words(summary))} "
        self._passages: dict[str, set[int]] = {}  # by word
        lines = [line for line in summary.splitlines() if line.strip()]
        for at in range(len(lines)):
            for word in telling(" ".join(lines[at : at + PASSAGE_LINES])):
                self._passages.setdefault(word, set()).add(at)

    def share_of(self, item: BriefItem) -> float:
        """Return the largest share of an item's texts."""
        texts = _texts(item)
        if item.section == "said" and len(words(texts[0])) <= TERSE_WORDS:
            return 1.0
        return max(map(self._share, texts))

    def _share(self, text: str) -> float:
        said, wanted = words(text), telling(_PATH.sub(" ", text))
        if f" {' '.join(said)} " in self._words:
            return 1.0
        together = Counter(chain.from_iterable(self._passages.get(one, ()) for one in wanted))
        return max(together.values(), default=0) / len(wanted) if wanted else 0.0


def _texts(item: BriefItem) -> list[str]:
    """Return the words themselves; of a failing command, what it printed."""
    first, *others = item.text.split("\n")
    if item.section == "failing":
        return others or [first.partition("): ")[2]]
    return [_BEHIND.sub("", first).removesuffix(" …”"), *others]
