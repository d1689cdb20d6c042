"""Search by words always, and by meaning where there are vectors, in one ranking.

Each result names its source, and `expand` shows the turns themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from holdfast.memory import locations, ranking, sync, words
from holdfast.memory.errors import DamagedIndex, IndexBusy, OfIndex, in_words
from holdfast.memory.index import engines
from holdfast.memory.index.interface import Index, Many, Scores, SearchFilter
from holdfast.memory.item import Item
from holdfast.memory.ranking import Hit, Rank, results
from holdfast.memory.results import FoundItem, SearchAnswer, describe_result
from holdfast.memory.sources import sessions
from holdfast.text.numbers import counted
from holdfast.wire import places

BY_WORDS, BY_MEANING = 500, 300  # candidates of each search, divided among the indexes ...
# ... but at least this many, so that a search of ten projects takes as long as one
LEAST_OF_EACH = 50
LEAST = 100  # of a kind that the question asks for
# times the wanted number: many belong to one turn, or say the same
LOOKED_AT, LOOKED_AT_LEAST = 5, 200
AT_ONCE = 4
MOST = 200
MADE_AGAIN = "the index was made again"
HYBRID, KEYWORD = "hybrid", "keyword"
NO_VECTORS = "searched by words only; `holdfast search --fill` adds search by meaning"
NO_ITEMS = "nothing to search yet: this project has no session"
# A weak match is reported, not left out, because its score does not tell an answer from none. Of
# the 345 questions of benchmarks.retrieval 13 share no word with anything: their best scores are
# .20 to .48, those of made-up words .17 to .24, and another embedder has another scale.
BY_MEANING_ALONE = "no words match: these are the nearest by meaning, and may be far off"
READS_THE_REST = "a search with --project DIR reads the rest"
S = TypeVar("S")
T = TypeVar("T")


class _Scored(NamedTuple):
    """One index and its scores for a query."""

    of: Index
    keyword: Scores
    vector: Scores
    asked: Scores  # items of the kind that the query asks for


def recall(
    query: str,
    *,
    project: str = "",
    limit: int = 10,
    kinds: Sequence[str] = (),
    cold: bool = False,
    everywhere: bool = False,
    by_keyword: bool = False,
) -> SearchAnswer:
    """Search a project, or all indexed projects. With `by_keyword`, vectors are not used."""
    asked = words.parse_query(query)
    notes = list(asked.notes)
    wanted = SearchFilter(tuple(kinds), cold)
    with in_words():
        project = locations.resolve(project)
        indexes = _open_indexes(project, everywhere, notes)
        if not indexes:
            return SearchAnswer([], [*notes, NO_ITEMS], KEYWORD, asked.terms)
        while True:
            try:
                return search_indexes(indexes, asked, limit, wanted, by_keyword, list(notes))
            except OfIndex as error:
                indexes = _without(indexes, project, error, notes)


def _open_indexes(project: str, everywhere: bool, notes: list[str]) -> list[Index]:
    """Open the project's own index, brought up to date, and all others, as far as there is time for
    those. An index that cannot be used is left out if there are others. None is made for a project
    of which there is nothing to search."""
    if not everywhere:
        return _open_own(project, notes)
    try:
        own = _open_own(project, notes)
        _index_others(project, notes)
    except OfIndex as error:
        notes.append(f"left out: {error}")
        if found := [*engines.other_indexes(project, notes)]:
            return found
        raise
    return [*own, *engines.other_indexes(project, notes)]


def _open_own(project: str, notes: list[str]) -> list[Index]:
    return [] if sync.is_empty(project) else [_fresh(project, notes)]


def _index_others(project: str, notes: list[str]) -> None:
    """Make the indexes of known projects that have none, and bring the others up to date, as far as
    time allows; note what was not. A team's database gets none of them unasked: only a search in a
    project's folder adds it there."""
    if engines.is_shared():
        _note_unshared(project, notes)
        return
    give_up = time.monotonic() + sync.SYNC_SECONDS
    missing = [one for one in reversed(sync.unindexed_projects()) if one != project]
    known = sorted(sync.indexed_projects() - {project}, key=_changed_ms, reverse=True)
    new, old = _sync_until(give_up, missing), _sync_until(give_up, known)
    notes += [f"left out: {error}" for error in new.failed]
    stale = old.partly + old.waiting + len(old.failed)  # the search itself reports a damaged one
    for left, state, hint in (
        (new.partly, "not read to the end yet", READS_THE_REST),
        (new.waiting, "not searched yet", "search again for all"),
        (stale, "not brought up to date", READS_THE_REST),
    ):
        if left:
            notes.append(f"{state}: {counted(left, 'project')}; {hint}")


class _Unsynced(NamedTuple):
    partly: int  # projects that were read in part
    waiting: int  # projects there was no time for
    failed: list[OfIndex]


def _sync_until(give_up: float, projects: Sequence[str]) -> _Unsynced:
    """Bring indexes up to date until a time; count those that are not."""
    partly, failed = 0, list[OfIndex]()
    for at, one in enumerate(projects):
        seconds = give_up - time.monotonic()
        if seconds <= 0:
            return _Unsynced(partly, len(projects) - at, failed)
        try:
            partly += bool(sync.sync_index(engines.local(one), seconds=seconds).left)
        except OfIndex as error:
            failed.append(error)
    return _Unsynced(partly, 0, failed)


def _changed_ms(project: str) -> int:
    """When a session of the project began last."""
    return places.modified_ms(locations.client_folder(project))


def _note_unshared(project: str, notes: list[str]) -> None:
    """Count the projects of this machine that the team's database does not have."""
    shared = {project, *(one.project for one in engines.other_indexes(project, []))}
    if missing := len(sessions.known_projects() - shared):
        words = f"not searched: {counted(missing, 'project')} of this machine"
        notes.append(f"{words}, not in the team's database; a search with --project DIR adds one")


def _without(indexes: list[Index], project: str, error: OfIndex, notes: list[str]) -> list[Index]:
    """Handle a damaged index: the project's own is rebuilt once, another is left out."""
    left = [one for one in indexes if getattr(one, "path", "") != error.path]
    if not error.path or len(left) == len(indexes):
        raise error
    if error.path == locations.index_file(project):
        if not isinstance(error, DamagedIndex) or any(
            note.startswith(MADE_AGAIN) for note in notes
        ):
            raise error
        return [_again(project, error, notes), *left]
    if not left:
        raise error
    notes.append(f"left out: {error}")
    return left


def search_indexes(
    indexes: Sequence[Index],
    asked: words.Query,
    limit: int,
    wanted: SearchFilter,
    by_keyword: bool = False,
    notes: list[str] | None = None,
) -> SearchAnswer:
    """Search these indexes as they are."""
    notes = [] if notes is None else notes
    vectors = {} if by_keyword else _vectors(indexes, asked, notes)
    found = rank_results(indexes, asked, limit, wanted, vectors)
    if found and not any(one.rank.keyword or one.rank.kind for one in found):
        notes.append(BY_MEANING_ALONE)
    return SearchAnswer(found, notes, HYBRID if vectors else KEYWORD, asked.terms)


def rank_results(
    indexes: Sequence[Index],
    asked: words.Query,
    limit: int,
    wanted: SearchFilter,
    vectors: Mapping[str, Any],
) -> list[FoundItem]:
    """Rank the results of all indexes together; `vectors` are the query's, by embedder."""
    limit = max(1, min(limit, MOST))
    by_words, by_meaning = (
        max(LEAST_OF_EACH, side // len(indexes)) for side in (BY_WORDS, BY_MEANING)
    )
    many = Many(by_words, by_meaning, everywhere=len(indexes) > 1)
    leanings, wide = words.find_leanings(asked), words.widen(asked)

    def score(one: Index) -> _Scored:
        kind = _of_kind(one, wide, leanings, vectors, wanted) if leanings else {}
        return _Scored(one, *one.scores(wide, vectors, many, wanted), kind)

    scored = each(score, indexes)
    best = ranking.Best.from_scores([one.keyword for one in scored], [one.vector for one in scored])
    if vectors and best.keyword > 0:
        best = best.told_by(words.coverage(asked, _best_text(scored, best.keyword)))
    most = max(limit * LOOKED_AT, LOOKED_AT_LEAST)
    order = [
        (order, place, one.of)
        for one in scored
        for place, order in ranking.rank_places(
            one.keyword, one.vector, best, most, one.asked
        ).items()
    ]
    order.sort(key=lambda one: (-one[0].score, one[1]))
    first = results(_fetch(order[:most], wanted), limit, by_turn=not wanted.kinds)
    return [describe_result(one, wide) for one in first]


def _best_text(scored: Sequence[_Scored], best: float) -> str:
    """Return all words of the best match by keyword."""
    found = ((one.of, place) for one in scored for place, s in one.keyword.items() if s == best)
    index, place = next(found)
    item = index.at([place])[place]
    return f"{item.title}\n{item.text}\n{item.more}"


def _of_kind(
    index: Index,
    asked: words.Query,
    leanings: Sequence[words.Leaning],
    vectors: Mapping[str, Any],
    wanted: SearchFilter,
) -> Scores:
    """Score items of a kind the query asks for: by the rest of the query, or the newest first if
    there is no rest."""
    found: Scores = {}
    for one in leanings:
        kinds = tuple(kind for kind in one.kinds if not wanted.kinds or kind in wanted.kinds)
        if not kinds:
            continue
        only, topic = SearchFilter(kinds, wanted.cold), words.topic(asked, one)
        scores = _score_topic(index, topic, vectors, only) if topic.terms else _newest(index, only)
        there = index.at(scores)
        for place, score in scores.items():
            if place in there and one.fits(there[place]):
                found[place] = max(found.get(place, 0.0), score)
    return found


def _score_topic(
    index: Index, topic: words.Query, vectors: Mapping[str, Any], only: SearchFilter
) -> Scores:
    by_words, by_meaning = index.scores(
        topic, vectors, Many(LEAST, BY_MEANING if vectors else 0), only
    )
    sides = [
        ranking.share(one, max(one.values(), default=0.0)) for one in (by_words, by_meaning) if one
    ]
    return {
        place: words.TOPIC * sum(side.get(place, 0.0) for side in sides) / len(sides)
        for side in sides
        for place in side
    }


def _newest(index: Index, only: SearchFilter) -> Scores:
    places = index.newest(LEAST, only)
    return {place: words.ALONE + 1 - n / len(places) for n, place in enumerate(places)}


def each(ask: Callable[[S], T], indexes: Sequence[S]) -> list[T]:
    """Query several indexes in parallel: the engines work outside the interpreter's lock."""
    if len(indexes) < 2:
        return [ask(one) for one in indexes]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(ask, indexes))


def _vectors(indexes: Sequence[Index], asked: words.Query, notes: list[str]) -> dict[str, Any]:
    """Return the query's vector for each embedder of the indexes; note why one is missing."""
    known = each(lambda one: one.counts(), indexes)
    made_with = [counts for counts in known if counts.vectors]
    if not made_with:
        notes.append(NO_VECTORS if any(counts.items for counts in known) else NO_ITEMS)
        return {}
    if not asked.text.strip():
        return {}
    from holdfast.memory.embed import embedders
    from holdfast.memory.embed.embedders import NoEmbedder

    found = {}
    for name in dict.fromkeys(counts.embedder for counts in made_with):
        try:
            found[name] = embedders.vector_of(asked.text, name)
        except NoEmbedder as error:
            notes.append(f"searched by words only: {error}")
    items, vectors = sum(one.items for one in made_with), sum(one.vectors for one in made_with)
    if found and vectors < items:
        notes.append(f"{items - vectors:,} of {items:,} items are found by words only so far")
    return found


def _fetch(order: Sequence[tuple[Rank, int, Index]], wanted: SearchFilter) -> list[Hit]:
    """Fetch the items that exist and match the filter."""
    places: dict[int, list[int]] = {}
    for _, place, index in order:
        places.setdefault(id(index), []).append(place)
    indexes = {id(index): index for _, _, index in order}
    found = each(lambda key: indexes[key].at(places[key]), list(places))
    items = dict(zip(places, found, strict=True))
    return [
        Hit(rank, place, item, index)
        for rank, place, index in order
        if (item := items[id(index)].get(place)) and _fits(item, wanted)
    ]


def _fits(item: Item, wanted: SearchFilter) -> bool:
    return (wanted.cold or not item.cold) and (not wanted.kinds or item.kind in wanted.kinds)


def _fresh(project: str, notes: list[str]) -> Index:
    """Open the index and bring it up to date; a damaged one is rebuilt, with a note."""
    if engines.is_shared():
        from holdfast.hub.errors import StoreError

        try:
            return _sync(engines.open_index(project), notes)
        except StoreError as error:
            notes.append(f"the team's database was not asked, only this machine: {error}")
    try:
        return _sync(engines.local(project), notes)
    except DamagedIndex as error:
        return _again(project, error, notes)


def _again(project: str, error: DamagedIndex, notes: list[str]) -> Index:
    aside = engines.set_aside(project)
    notes.append(f"{MADE_AGAIN}: {error}; the old one is {aside}")
    return _sync(engines.local(project), notes)


def _sync(index: Index, notes: list[str]) -> Index:
    try:
        done = sync.sync_index(index, seconds=sync.SYNC_SECONDS)
        if done.left:
            notes.append(f"not read yet: {counted(done.left, 'source')}; search again for all")
    except IndexBusy:
        notes.append("another process is taking in what is new: it may be missing here")
    return index
