"""The results of a search as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from holdfast.text import fence
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from holdfast.memory.results import FoundItem, SearchAnswer


def lines(answer: SearchAnswer) -> tuple[list[str], list[str]]:
    """What goes to stdout, and what to stderr."""
    found = ["\n  ".join(_lines(one)) for one in answer.found]
    notes = (
        []
        if found
        else ["Nothing found. Try other words, --all-projects, or --cold for archived topics."]
    )
    return found, notes + [f"note: {inert(note)}" for note in answer.notes]


def _lines(one: FoundItem) -> Iterator[str]:
    """Where it was said; what was asked there, or the question it answers; its words."""
    yield f"{one.id}  {_said(_where(one))}"
    if one.item.title and one.item.by in ("user", "model", "agent"):
        yield f"asked: {_said(one.title)}"
    yield _said(one.snippet)


def _said(text: str) -> str:
    """Anyone's words: a model may read them too, so no tag in them is live."""
    return inert(fence.clean(text))


def _where(one: FoundItem) -> str:
    item = one.item
    turns = f"turn {item.first_turn}" if item.first_turn else ""
    if item.last_turn > item.first_turn:
        turns = f"turns {item.first_turn}-{item.last_turn}"
    session = f"session {item.session[:8]}" if item.session else ""
    title = "" if item.by in ("user", "model", "agent") else item.title
    told = (item.by, title, turns, session, item.at[:16].replace("T", " "))
    return ", ".join(filter(None, told))
