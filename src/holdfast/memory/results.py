"""What a search returns: each result, a snippet that shows why it was found, and how to get the
rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from holdfast.memory.item import DECISION, Item
from holdfast.memory.ranking import USER, Rank, TurnResult
from holdfast.memory.words import Query, stem
from holdfast.text import fence
from holdfast.text.sentences import clip_last

_RULED = re.compile("`?([-=_*~#\u2500\u2501\u2550])\\1{5,}`?")  # a rule drawn by a tool
CHARS = 300
TITLE_CHARS = 160
MOST_PLACES = 40  # occurrences of one word that are examined
ASKED_CHARS = 240  # of the request of a turn
OTHER_CHARS, MOST_SHOWN = 160, 3  # of other results of a turn


def snippet(text: str, terms: Iterable[str], most: int = CHARS) -> str:
    """Return the passage with the most words of the query, on one line."""
    flat = _without_rules(text)
    if len(flat) <= most:
        return flat
    start = _start(flat.lower(), list(map(stem, terms)), most)
    cut = flat[start : start + most]
    return ("… " if start else "") + cut.strip() + (" …" if start + most < len(flat) else "")


def _without_rules(text: str) -> str:
    """Put the text on one line, with an ellipsis for each ruled line."""
    return _RULED.sub("…", " ".join(fence.clean(text).split()))


def _start(low: str, stems: list[str], most: int) -> int:
    """Return where the passage with the most different words begins; the first of equal ones."""
    at = sorted((place, stem) for stem in dict.fromkeys(stems) for place in _places(low, stem))
    room = most - 40
    best, most_words, last = 0, 0, 0
    held: dict[str, int] = {}
    for place, known in at:
        held[known] = held.get(known, 0) + 1
        while at[last][0] < place - room:
            held[at[last][1]] -= 1
            last += 1
        words = sum(1 for count in held.values() if count)
        if words > most_words:
            best, most_words = at[last][0], words
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
    for line in text.splitlines():
        if words := fence.flat(line.lstrip("#-*> "), TITLE_CHARS):
            return words
    return ""


class FoundItem(NamedTuple):
    """One result. `text` is safe: it cannot act in a terminal, close a fence or look like a tag."""

    item: Item
    project: str
    rank: Rank
    title: str
    places: tuple[str, ...]  # passages with the words: the best one, then others of the turn
    text: str
    rest: str = ""  # other items of the same turn that were found

    @property
    def snippet(self) -> str:
        return " | ".join(self.places)

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def kind(self) -> str:
        return self.item.kind

    @property
    def score(self) -> float:
        return self.rank.score

    def plain(self) -> dict[str, Any]:
        """Return the result as JSON types."""
        item = self.item
        return {
            "id": item.id,
            "kind": item.kind,
            "score": round(self.rank.score, 4),
            "parts": {
                "keyword": round(self.rank.keyword, 4),
                "vector": round(self.rank.vector, 4),
                "neighbours": round(self.rank.beside, 4),
                "kind": round(self.rank.kind, 4),
            },
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


def describe_result(one: TurnResult, asked: Query) -> FoundItem:
    item = one.hit.item
    asked_there = one.asked.text if one.asked and item.by != USER else ""
    title = snippet(asked_there, asked.terms, ASKED_CHARS)
    title = title or snippet_title(item.title or item.text or item.more)
    few = [snippet(_telling(item, asked), asked.terms)]
    beside = [one.answered] if one.answered else []
    beside += [*(other for other in one.came_of_it if other.kind == DECISION), *one.others]
    beside += [other for other in one.came_of_it if other.kind != DECISION]
    few += [_in_short(other, asked) for other in beside[:MOST_SHOWN]]
    beside += [one.asked] if one.asked and one.asked.id != item.id else []
    rest = "\n".join(dict.fromkeys(_text(other) for other in beside))
    return FoundItem(item, one.hit.of.project, one.rank, title, tuple(few), _text(item), rest)


def _in_short(item: Item, asked: Query) -> str:
    if item.kind != DECISION:
        return snippet(_telling(item, asked), asked.terms, OTHER_CHARS)
    question = clip_last(_without_rules(item.title), OTHER_CHARS)  # the question is at its end
    return f"{question} → {snippet(item.text, asked.terms, OTHER_CHARS)}"


def _text(item: Item) -> str:
    question = item.title if item.kind == DECISION else ""
    return fence.clean("\n".join(filter(None, (question, item.text, item.more))))


def _telling(item: Item, asked: Query) -> str:
    """Return the item's words, or its `more` if only that contains words of the query."""
    low = item.text.lower()
    if item.kind == DECISION and item.by == USER:
        return item.text  # the other choices are not the answer
    if item.text and (not item.more or any(term[:5] in low for term in asked.terms)):
        return item.text
    return item.more or item.text


class SearchAnswer(NamedTuple):
    """The answer to a search. `notes` say, for example, that vectors were not used, that an index
    was rebuilt or that the query was cut."""

    found: list[FoundItem]
    notes: list[str]
    mode: str = "keyword"  # or hybrid
    terms: tuple[str, ...] = ()  # the words that were searched for

    def plain(self) -> dict[str, Any]:
        found = [one.plain() for one in self.found]
        return {"results": found, "mode": self.mode, "notes": self.notes}


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
