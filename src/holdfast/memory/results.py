"""What a search returns: results, snippets that show why, and how to get the rest."""

import re
from collections.abc import Iterable, Iterator
from math import ceil
from typing import Any, NamedTuple

from holdfast.memory.item import TURN, Item, pieces_of
from holdfast.memory.words import Query, stem
from holdfast.text import fence

_RULED = re.compile("`?([-=_*~#\u2500\u2501\u2550])\\1{5,}`?")  # a rule drawn by a tool
CHARS = 300
TITLE_CHARS = 160
MOST_PLACES = 40  # occurrences of one word that are examined
ASKED_CHARS = 220  # of the request of a turn
ANSWER_CHARS = 160


def snippet(text: str, terms: Iterable[str], most: int = CHARS) -> str:
    """Return the passage with the most words of the query, on one line."""
    flat = _RULED.sub("…", " ".join(fence.clean(text).split()))
    if len(flat) <= most:
        return flat
    start = _start(flat.lower(), set(map(stem, terms)), most)
    cut = flat[start : start + most]
    return ("… " if start else "") + cut.strip() + (" …" if start + most < len(flat) else "")


def _start(low: str, stems: set[str], most: int) -> int:
    """Return where the passage with the most different words begins; the first of equal ones."""
    starts = sorted({place for stem in stems for place in _places(low, stem)})

    def words_from(start: int) -> int:
        passage = low[start : start + most - 20]
        return sum(stem in passage for stem in stems)

    best = max(starts, key=words_from, default=0)
    return low.rfind(" ", 0, max(0, best - 20)) + 1


def _places(low: str, stem: str) -> Iterator[int]:
    place = low.find(stem)
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield place
        place = low.find(stem, place + 1)


def snippet_title(text: str) -> str:
    """Return the first line that has any words."""
    lines = (fence.flat(line.lstrip("#-*> "), TITLE_CHARS) for line in text.splitlines())
    return next(filter(None, lines), "")


class Rank(NamedTuple):
    """The score of an entry, and its parts."""

    score: float
    keyword: float
    vector: float


class FoundItem(NamedTuple):
    """One result. Its texts cannot act in a terminal, close a fence or look like a tag."""

    item: Item
    project: str
    rank: Rank
    piece: int = -1  # the number of the piece that is nearest by meaning
    title: str = ""
    places: tuple[str, ...] = ()  # the best passage by words and by meaning, and how the turn ended

    @property
    def text(self) -> str:
        return fence.clean("\n\n".join(filter(None, [*self.item.sayings, self.item.more])))

    @property
    def snippet(self) -> str:
        return " | ".join(self.places)

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def kind(self) -> str:
        return self.item.kind

    def plain(self) -> dict[str, Any]:
        """Return the result as JSON types."""
        item = self.item
        return {
            "id": item.id,
            "kind": item.kind,
            "score": round(self.rank.score, 4),
            # Rounded up: in a project where every entry has the word, it counts next to nothing.
            "parts": {n: ceil(getattr(self.rank, n) * 1e4) / 1e4 for n in ("keyword", "vector")},
            "title": self.title,
            "snippet": self.snippet,
            "by": item.by,
            "tier": "cold" if item.cold else "warm",
            "project": self.project,
            "session": item.session,
            "agent": item.agent,
            "source": item.file,
            "turns": [item.first_turn, item.last_turn] if item.first_turn else [],
            "uuids": list(item.uuids),
            "at": item.at,
        }


def describe_result(hit: FoundItem, asked: Query) -> FoundItem:
    """Add the title and the passages that show why it was found."""
    item = hit.item
    sayings = item.sayings if item.kind == TURN else [item.text]
    title = snippet(item.title, asked.terms, ASKED_CHARS) if item.kind == TURN else ""
    title = title or snippet_title(item.title or item.text or item.more)
    is_told = len(sayings) > 1 and len(sayings[0]) <= len(item.title)  # the title tells the first
    passages = [snippet(_worded(item, sayings[is_told:], asked), asked.terms)]
    pieces = pieces_of(item)
    if 0 <= hit.piece < len(pieces) > 1:
        passages.append(snippet(pieces[hit.piece], asked.terms))
    passages += [snippet(sayings[-1], asked.terms, ANSWER_CHARS)] if len(sayings) > 1 else []
    return hit._replace(title=title, places=_distinct(passages))


def _worded(item: Item, sayings: list[str], asked: Query) -> str:
    """Return the entry's words, or its `more` if only that has words of the query."""
    said = "\n".join(sayings)
    tells = any(stem(term) in said.lower() for term in asked.terms)
    return said if tells or not item.more else item.more


def _distinct(passages: list[str]) -> tuple[str, ...]:
    """Leave out a passage that stands in an earlier one."""
    kept: list[str] = []
    for passage in passages:
        bare = passage.strip("… ")
        if bare and not any(bare in other for other in kept):
            kept.append(passage)
    return tuple(kept)


class SearchAnswer(NamedTuple):
    """The answer to a search; `notes` say, for example, that vectors were not used."""

    found: list[FoundItem]
    notes: list[str]
    mode: str = "keyword"  # or hybrid
    terms: tuple[str, ...] = ()  # the words that were searched for

    def plain(self) -> dict[str, Any]:
        found = [one.plain() for one in self.found]
        return {"results": found, "mode": self.mode, "notes": self.notes}
