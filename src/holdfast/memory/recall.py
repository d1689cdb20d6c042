"""Find again: by words always, by meaning where there are vectors, in one order.

What was found carries where it came from, and `expand` leads back to the turns themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from holdfast.brief import fence
from holdfast.memory import places, snippet, words
from holdfast.memory import sync as syncing
from holdfast.memory.answer import Answer, Found
from holdfast.memory.errors import Busy, Damaged
from holdfast.memory.index import opening
from holdfast.memory.index.engines import opened
from holdfast.memory.index.shape import Index, Wanted
from holdfast.memory.item import Item
from holdfast.memory.rank import Rank, ranked

CANDIDATES = 1_000  # of each side
LOOKED_AT = 5  # times what is wanted: some say the same words
SYNC_SECONDS = 5.0
MOST = 200


def recall(
    query: str,
    *,
    project: str = "",
    limit: int = 10,
    kinds: Sequence[str] = (),
    cold: bool = False,
    everywhere: bool = False,
) -> Answer:
    """The best of a project, or of all projects there is an index of."""
    asked = words.asked(query)
    wanted = Wanted(tuple(kinds), cold)
    limit = max(1, min(limit, MOST))
    notes = list(asked.notes)
    found: list[Found] = []
    for index in _indexes(places.resolved(project), everywhere, notes):
        found += search(index, asked, limit, wanted)
        index.close()
    found.sort(key=lambda one: -one.score)
    notes.append("keyword only")
    return Answer(_distinct(found)[:limit], notes)


def search(index: Index, asked: words.Query, limit: int, wanted: Wanted) -> list[Found]:
    """The best of one index, several of them with the same words maybe."""
    keyword = index.keyword(asked, CANDIDATES, wanted)
    order = ranked(keyword, {})
    items = _first(index, order, limit * LOOKED_AT, wanted)
    return [_found(item, index.project, order[place], asked) for place, item in items.items()]


def _first(index: Index, order: dict[int, Rank], most: int, wanted: Wanted) -> dict[int, Item]:
    """The first of an order that are there, and wanted: a neighbour may be neither."""
    best = list(order)[: most * 2]
    items = index.at(best)
    fits = [place for place in best if place in items and _fits(items[place], wanted)]
    return {place: items[place] for place in fits[:most]}


def _fits(item: Item, wanted: Wanted) -> bool:
    return (wanted.cold or not item.cold) and (not wanted.kinds or item.kind in wanted.kinds)


def _found(item: Item, project: str, rank: Rank, asked: words.Query) -> Found:
    text = fence.clean("\n".join(filter(None, (item.text, item.more))))
    shown = item.text or item.more
    return Found(
        item=item,
        project=project,
        rank=rank,
        title=snippet.title(item.title or shown),
        snippet=snippet.snippet(_telling(item, asked), asked.terms),
        text=text,
    )


def _telling(item: Item, asked: words.Query) -> str:
    """Its words; what came with them, where the words asked for stand only there."""
    low = item.text.lower()
    if item.text and (not item.more or any(term[:5] in low for term in asked.terms)):
        return item.text
    return item.more or item.text


def _distinct(found: list[Found]) -> list[Found]:
    """Of those that say the same words, the best."""
    return list({one.item.hash: one for one in reversed(found)}.values())[::-1]


def _indexes(project: str, everywhere: bool, notes: list[str]) -> Iterator[Index]:
    """Brought up to date: the project's own; those of others as they were left."""
    yield _fresh(project, notes)
    if not everywhere:
        return
    for path in places.index_files():
        with suppress_damage(path, notes):
            other = opening.project_of(path)
            if other != project:
                yield opened(other)


def _fresh(project: str, notes: list[str]) -> Index:
    """A damaged index is set aside and made again, and said."""
    try:
        return _synced(project, notes)
    except Damaged as slip:
        aside = opening.set_aside(places.index_file(project))
        notes.append(f"the index was made again: {slip}; the old one is {aside}")
        return _synced(project, notes)


def _synced(project: str, notes: list[str]) -> Index:
    index = opened(project)
    try:
        done = syncing.bring_up(index, seconds=SYNC_SECONDS)
        if done.left:
            notes.append(f"{done.left} sources are not taken in yet: search again for all of them")
    except Busy:
        notes.append("another process is taking in what is new: it may be missing here")
    return index


@contextmanager
def suppress_damage(path: str, notes: list[str]) -> Iterator[None]:
    try:
        yield
    except Damaged as slip:
        notes.append(f"left out: {slip}")
