"""Find again: by words always, by meaning where there are vectors, in one order.

What was found carries where it came from, and `expand` leads back to the turns themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.memory import places, rank, words
from holdfast.memory import sync as syncing
from holdfast.memory.answer import Answer, Found, found_as
from holdfast.memory.errors import Busy, Damaged
from holdfast.memory.expand import expand
from holdfast.memory.index import engines
from holdfast.memory.index.shape import Index, Scores, Wanted
from holdfast.memory.item import Item
from holdfast.memory.rank import Rank

CANDIDATES = 1_000  # of each side
LOOKED_AT = 3  # times what is wanted: some say the same words
SYNC_SECONDS = 5.0
MOST = 200
HYBRID, KEYWORD = "hybrid", "keyword"

__all__ = ["Answer", "Found", "expand", "recall"]


class _Scored(NamedTuple):
    """One index, and what it says to a query."""

    of: Index
    keyword: Scores
    vector: Scores


def recall(
    query: str,
    *,
    project: str = "",
    limit: int = 10,
    kinds: Sequence[str] = (),
    cold: bool = False,
    everywhere: bool = False,
    by_keyword: bool = False,
) -> Answer:
    """The best of a project, or of all projects there is an index of; `by_keyword`: words only."""
    asked = words.asked(query)
    notes = list(asked.notes)
    project = places.resolved(project)
    indexes = [_fresh(project, notes)]
    if everywhere:
        indexes += engines.others(project, notes)
    return answered(indexes, asked, limit, Wanted(tuple(kinds), cold), by_keyword, notes)


def answered(
    indexes: Sequence[Index],
    asked: words.Query,
    limit: int,
    wanted: Wanted,
    by_keyword: bool = False,
    notes: list[str] | None = None,
) -> Answer:
    """What these indexes, as they are, say to a query."""
    notes = [] if notes is None else notes
    limit = max(1, min(limit, MOST))
    vectors = {} if by_keyword else _vectors(indexes, asked, notes)
    scored = [
        _scored(index, asked, wanted, vectors.get(index.counts().embedder)) for index in indexes
    ]
    best = rank.Best.of([one.keyword for one in scored], [one.vector for one in scored])
    found = [
        found_as(item, one.of.project, order, asked)
        for one in scored
        for item, order in _first(one, best, limit * LOOKED_AT, wanted)
    ]
    found.sort(key=lambda one: -one.score)
    return Answer(_distinct(found)[:limit], notes, HYBRID if vectors else KEYWORD)


def _scored(index: Index, asked: words.Query, wanted: Wanted, vector: Any) -> _Scored:
    """Candidates of both sides; how near the ones found by words are is looked up too."""
    keyword = index.keyword(asked, CANDIDATES, wanted)
    if vector is None:
        return _Scored(index, keyword, {})
    near = index.nearest(vector, CANDIDATES, wanted)
    unknown = [place for place in keyword if place not in near]
    return _Scored(index, keyword, near | index.nearness(vector, unknown))


def _vectors(indexes: Sequence[Index], asked: words.Query, notes: list[str]) -> dict[str, Any]:
    """The query's vector for each embedder the indexes were made with; why not, where not."""
    made_with = [counts for index in indexes if (counts := index.counts()).vectors]
    if not made_with:
        notes.append("keyword only: no vectors have been made yet")
        return {}
    if not asked.text.strip():
        return {}
    from holdfast.memory.embed import asking
    from holdfast.memory.embed.embedder import NoEmbedder

    found = {}
    for name in dict.fromkeys(counts.embedder for counts in made_with):
        try:
            found[name] = asking.vector_of(asked.text, name)
        except NoEmbedder as slip:
            notes.append(f"keyword only: {slip}")
    items, vectors = sum(one.items for one in made_with), sum(one.vectors for one in made_with)
    if found and vectors < items:
        notes.append(f"{items - vectors:,} of {items:,} items have no vector yet")
    return found


def _first(scored: _Scored, best: rank.Best, most: int, wanted: Wanted) -> list[tuple[Item, Rank]]:
    """The first of the order that are there and wanted: a neighbour may be neither."""
    order = rank.ranked(scored.keyword, scored.vector, best)
    first = list(order)[: most * 2]
    items = scored.of.at(first)
    fits = [place for place in first if place in items and _fits(items[place], wanted)]
    return [(items[place], order[place]) for place in fits[:most]]


def _fits(item: Item, wanted: Wanted) -> bool:
    return (wanted.cold or not item.cold) and (not wanted.kinds or item.kind in wanted.kinds)


def _distinct(found: list[Found]) -> list[Found]:
    """Of those that say the same words, the best."""
    return list({one.item.hash: one for one in reversed(found)}.values())[::-1]


def _fresh(project: str, notes: list[str]) -> Index:
    """Brought up to date; a damaged one is set aside and made again, and said."""
    if engines.is_shared():
        from holdfast.store.errors import StoreError

        try:
            return _synced(engines.opened(project), notes)
        except StoreError as slip:
            notes.append(f"the team's database was not asked, only this machine: {slip}")
    try:
        return _synced(engines.local(project), notes)
    except Damaged as slip:
        aside = engines.set_aside(project)
        notes.append(f"the index was made again: {slip}; the old one is {aside}")
        return _synced(engines.local(project), notes)


def _synced(index: Index, notes: list[str]) -> Index:
    try:
        done = syncing.bring_up(index, seconds=SYNC_SECONDS)
        if done.left:
            notes.append(f"{done.left} sources are not taken in yet: search again for all of them")
    except Busy:
        notes.append("another process is taking in what is new: it may be missing here")
    return index
