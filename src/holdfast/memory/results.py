"""What a search gives back: each thing found, why, and the way back to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.memory import snippet
from holdfast.memory.grouping import USER, Result
from holdfast.memory.item import DECISION, Item
from holdfast.memory.rank import Rank
from holdfast.memory.words import Query
from holdfast.text import fence

ASKED_CHARS = 240  # of what was asked in a turn
OTHER_CHARS, MOST_SHOWN = 160, 3  # of what else was found in a turn, or came of it


class Found(NamedTuple):
    """`text` is cleaned: nothing in it acts in a terminal, closes a fence or poses as a tag."""

    item: Item
    project: str
    rank: Rank
    title: str
    snippet: str
    text: str
    rest: str = ""  # other words of the same turn that were found

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
        """For programs."""
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


def found_as(one: Result, asked: Query) -> Found:
    item = one.hit.item
    asked_there = one.asked.text if one.asked and item.by != USER else ""
    title = snippet.snippet(asked_there, asked.terms, ASKED_CHARS)
    title = title or snippet.title(item.title or item.text or item.more)
    few = [snippet.snippet(_telling(item, asked), asked.terms)]
    beside = [*(other for other in one.came_of_it if other.kind == DECISION), *one.others]
    beside += [other for other in one.came_of_it if other.kind != DECISION]
    few += [_in_short(other, asked) for other in beside[:MOST_SHOWN]]
    beside += [one.asked] if one.asked and one.asked.id != item.id else []
    rest = "\n".join(dict.fromkeys(_text(other) for other in beside))
    return Found(item, one.hit.of.project, one.rank, title, " | ".join(few), _text(item), rest)


def _in_short(item: Item, asked: Query) -> str:
    text = f"{item.title} → {item.text}" if item.kind == DECISION else _telling(item, asked)
    return snippet.snippet(text, asked.terms, OTHER_CHARS)


def _text(item: Item) -> str:
    question = item.title if item.kind == DECISION else ""
    return fence.clean("\n".join(filter(None, (question, item.text, item.more))))


def _telling(item: Item, asked: Query) -> str:
    """Its words; what came with them, where the words asked for stand only there."""
    low = item.text.lower()
    if item.kind == DECISION and item.by == USER:
        return item.text  # what else could have been answered is not it
    if item.text and (not item.more or any(term[:5] in low for term in asked.terms)):
        return item.text
    return item.more or item.text


class Answer(NamedTuple):
    """`notes` say what to know of it: by keyword only, an index made again, a query cut short."""

    found: list[Found]
    notes: list[str]
    mode: str = "keyword"  # or hybrid

    def plain(self) -> dict[str, Any]:
        found = [one.plain() for one in self.found]
        return {"results": found, "mode": self.mode, "notes": self.notes}


class Expanded(NamedTuple):
    """The original turns, fenced as reference; `more` is the offset to go on from, 0 at the end."""

    item: Item
    text: str
    gone: bool  # the transcript is not there any more: the text is what was kept
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
