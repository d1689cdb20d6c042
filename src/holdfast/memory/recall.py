"""Search by words always, and by meaning where there are vectors, in one ranking.

Words and meaning count 1:1, each as a share of its best score, where the best match holds all words
of the query; where it holds few of them, words count less. Each result names its source, and
`expand` shows the turns themselves.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from holdfast.memory import engines, locations, session_sources, sync, words
from holdfast.memory.index import (
    DamagedIndex,
    Index,
    IndexBusy,
    Many,
    NearPiece,
    Scores,
    SearchFilter,
    UnusableIndex,
)
from holdfast.memory.item import CHECKPOINT, DECISION, FOREIGN, LONGEST_TEXT, SEGMENT, TURN, Item
from holdfast.memory.results import FoundItem, Rank, SearchAnswer, describe_result
from holdfast.memory.sqlite_index import in_words
from holdfast.memory.sync import Report, report_nothing
from holdfast.text.numbers import counted
from holdfast.wire import places

BY_WORDS, BY_MEANING = 300, 200  # candidates of each search, divided among the indexes ...
# ... but at least this many, so that a search of ten projects takes as long as one
LEAST_OF_EACH = 50
LOOKED_AT, LOOKED_AT_LEAST = 3, 40  # times the wanted number: several may say the same
AT_ONCE = 4
MOST_BY_MEANING = 3  # results, where none has any of the words
MOST = 200
BESIDE = 0.3
LEAST_COVERAGE = 0.2
UNKNOWN = 0.5  # score by meaning of an entry without vectors, as a share of its score by words
DERIVED = (CHECKPOINT, SEGMENT, DECISION)  # they quote turns, which are the better result
LESS = 0.8  # weight of those
SAME = 0.8  # share of its words that stand elsewhere, if a text says nothing else
COMPARED_CHARS = 4_000
MADE_AGAIN = "the index was made again"
UNREAD, AGAIN = "not read yet: ", "; search again for all"
ONLY_WORDS = "searched by words only"
HYBRID, KEYWORD = "hybrid", "keyword"
NO_ITEMS = "nothing to search yet: this project has no session"
# A weak match is reported, not left out, because its score does not tell an answer from none.
BY_MEANING_ALONE = "no words match: these are the nearest by meaning, and may be far off"
S = TypeVar("S")
T = TypeVar("T")


class _Scored(NamedTuple):
    of: Index
    said: Scores
    near: dict[int, NearPiece]


def recall(
    query: str,
    *,
    project: str = "",
    limit: int = 10,
    kinds: Sequence[str] = (),
    cold: bool = False,
    everywhere: bool = False,
    by_keyword: bool = False,
    seconds: float = sync.SYNC_SECONDS,
    fill_seconds: float = 0.0,
    report: Report = report_nothing,
) -> SearchAnswer:
    """Search a project, or all known projects, after at most `seconds` of reading what is new
    and `fill_seconds` of making vectors. With `by_keyword`, vectors are not used."""
    from holdfast.memory import embedders

    asked = words.parse_query(query)
    notes, left_out = list(asked.notes), set[str]()
    wanted = SearchFilter(tuple(kinds), cold)
    by_keyword = by_keyword or embedders.read_settings()[0] == embedders.OFF
    with in_words():
        project = locations.resolve(project)
        while True:
            try:
                indexes = _open_indexes(project, everywhere, left_out, notes, seconds, report)
                if not indexes:
                    notes += [] if left_out else [NO_ITEMS]
                    return SearchAnswer([], notes, KEYWORD, asked.terms)
                if fill_seconds and not by_keyword:
                    _fill(indexes, fill_seconds, notes, report)
                return search_indexes(indexes, asked, limit, wanted, by_keyword, list(notes))
            except UnusableIndex as error:
                _pass_over(error, project, everywhere, left_out, notes)


def _pass_over(
    error: UnusableIndex, project: str, everywhere: bool, left_out: set[str], notes: list[str]
) -> None:
    """Set the project's own damaged index aside, once, to be made again; leave out others."""
    is_own = error.path == locations.index_file(project)
    is_again = any(note.startswith(MADE_AGAIN) for note in notes)
    if is_own and isinstance(error, DamagedIndex) and not is_again:
        notes.append(f"{MADE_AGAIN}: {error}; the old one is {engines.set_aside(project)}")
    elif everywhere and error.path and error.path not in left_out:
        left_out.add(error.path)
        notes.append(f"left out: {error}")
    else:
        raise error


def _fill(indexes: Sequence[Index], seconds: float, notes: list[str], report: Report) -> None:
    """Make vectors that are missing, of the project itself first."""
    from holdfast.memory import embedders

    give_up = time.monotonic() + seconds
    try:
        for index in indexes:
            left = give_up - time.monotonic()
            if left > 0 and index.counts().missing:
                embedder = embedders.current_embedder()
                sync.fill_vectors(index, embedder, seconds=left, report=report)
    except embedders.NoEmbedder as error:
        notes.append(f"{ONLY_WORDS}: {error}")


def _open_indexes(
    project: str,
    everywhere: bool,
    left_out: set[str],
    notes: list[str],
    seconds: float,
    report: Report,
) -> list[Index]:
    """Open the project's own index, brought up to date, and all others, as far as there is time for
    those. None is made for a project of which there is nothing to search."""
    indexes: list[Index] = []
    if locations.index_file(project) not in left_out and not sync.is_empty(project):
        indexes.append(_fresh(project, notes, seconds, report))
    if everywhere:
        _sync_others(project, notes, seconds, report)
        listed = engines.all_indexes(project, notes)
        indexes += (index for index in listed if index.project != project)
    return [index for index in indexes if index.path not in left_out]


def _sync_others(project: str, notes: list[str], seconds: float, report: Report) -> None:
    """Bring the indexes of all known projects up to date, as far as time allows; note what was
    not. A team's database gets only the project whose folder is searched in."""
    if engines.is_shared():
        shared = {project, *(index.project for index in engines.all_indexes(project, []))}
        if missing := len(session_sources.known_projects() - shared):
            told = f"not searched: {counted(missing, 'project')} of this machine"
            notes.append(f"{told}, not in the team's database; a search in its folder adds one")
        return
    give_up = time.monotonic() + seconds
    known = (session_sources.known_projects() | sync.indexed_projects()) - {project}
    others = sorted((one for one in known if not sync.is_empty(one)), key=_new_first)
    left = 0
    for at, one in enumerate(others):
        report(at, len(others) - at)
        seconds = give_up - time.monotonic()
        try:
            left += seconds <= 0 or bool(sync.sync_index(engines.local(one), seconds=seconds).left)
        except UnusableIndex:
            left += 1
    if left:
        notes.append(f"{UNREAD}{counted(left, 'project')}{AGAIN}")


def _new_first(project: str) -> tuple[bool, int]:
    """Projects without an index have nothing that is found; then those used last."""
    has_index = bool(locations.stamp(locations.index_file(project)))
    return has_index, -places.modified_ms(locations.client_folder(project))


def _fresh(project: str, notes: list[str], seconds: float, report: Report) -> Index:
    """Open the index and bring it up to date."""
    if engines.is_shared():
        from holdfast.hub.errors import StoreError

        try:
            return _sync(engines.open_index(project), notes, seconds, report)
        except StoreError as error:
            notes.append(f"the team's database was not asked, only this machine: {error}")
    return _sync(engines.local(project), notes, seconds, report)


def _sync(index: Index, notes: list[str], seconds: float, report: Report) -> Index:
    try:
        done = sync.sync_index(index, seconds=seconds, report=report)
        if done.left:
            notes.append(f"{UNREAD}{counted(done.left, 'source')}{AGAIN}")
    except IndexBusy:
        notes.append("another process is taking in what is new: it may be missing here")
    return index


def search_indexes(
    indexes: Sequence[Index],
    asked: words.Query,
    limit: int,
    wanted: SearchFilter,
    by_keyword: bool = False,
    notes: list[str] | None = None,
) -> SearchAnswer:
    notes = [] if notes is None else notes
    vectors = {} if by_keyword else _vectors(indexes, asked, notes)
    found = rank_results(indexes, asked, limit, wanted, vectors)
    if found and not any(one.rank.keyword for one in found):
        found = found[:MOST_BY_MEANING]
        notes.append(BY_MEANING_ALONE)
    notes = list(dict.fromkeys(notes))  # the same reason may stop the vectors of texts and query
    return SearchAnswer(found, notes, HYBRID if vectors else KEYWORD, asked.terms)


def _vectors(indexes: Sequence[Index], asked: words.Query, notes: list[str]) -> dict[str, Any]:
    """Return the query's vector for each embedder of the indexes; note why one is missing."""
    known = each(lambda one: one.counts(), indexes)
    items, vectors = sum(one.items for one in known), sum(one.vectors for one in known)
    if not items:
        notes.append(NO_ITEMS)
    if not vectors or not asked.text.strip():
        if items and not vectors and not any(note.startswith(ONLY_WORDS) for note in notes):
            notes.append(f"{ONLY_WORDS} so far: no entry has its vector yet")
        return {}
    from holdfast.memory import embedders

    found = {}
    for name in dict.fromkeys(one.embedder for one in known if one.vectors):
        try:
            found[name] = embedders.vector_of(asked.text, name)
        except embedders.NoEmbedder as error:
            notes.append(f"{ONLY_WORDS}: {error}")
    if found and vectors < items:
        notes.append(f"{items - vectors:,} of {items:,} entries are found by words only so far")
    return found


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
    scored = each(lambda one: _Scored(one, *one.scores(asked, vectors, many, wanted)), indexes)
    ranks = _rank(scored, asked, bool(vectors))
    ranks.sort(key=lambda rank: (-rank[0].score, rank[1]))
    hits = _fetch(ranks, scored, wanted)
    # What came with a repository is behind everything of our own, before anything is cut away. A
    # stable sort: equal ones keep their order.
    hits.sort(key=lambda hit: (hit.item.by == FOREIGN, -hit.rank.score))
    hits = hits[: max(limit * LOOKED_AT, LOOKED_AT_LEAST)]
    chosen = _distinct(hits) if not wanted.kinds else hits
    return [describe_result(one, asked) for one in chosen[:limit]]


def _rank(
    scored: Sequence[_Scored], asked: words.Query, has_vectors: bool
) -> list[tuple[Rank, int, int]]:
    """Return the rank of each place in each index (by its number), as shares of the best."""
    top_said = max((score for one in scored for score in one.said.values()), default=0.0)
    top_near = max((near.score for one in scored for near in one.near.values()), default=0.0)
    if has_vectors and top_said > 0:
        # The best score by words stands for a text with all words of the query. The square root of
        # their share is used, so that a few rare words still count.
        coverage = words.coverage(asked, _best_text(scored, top_said))
        top_said /= max(coverage, LEAST_COVERAGE) ** 0.5
    found = []
    for number, one in enumerate(scored):
        ranks: dict[int, Rank] = {}
        for place in one.said.keys() | one.near.keys():
            said = one.said.get(place, 0.0) / top_said if top_said > 0 else 0.0
            near = one.near.get(place)
            meant = max(0.0, near.score / top_near) if near and top_near > 0 else 0.0
            if has_vectors and near is None:
                meant = UNKNOWN * said
            ranks[place] = Rank(said + meant, said, meant)
        beside: dict[int, float] = {}
        for place, rank in ranks.items():
            for neighbour in (place - 1, place + 1):
                beside[neighbour] = beside.get(neighbour, 0.0) + BESIDE * rank.score
        for place in ranks.keys() | beside.keys():
            rank, more = ranks.get(place, Rank(0.0, 0.0, 0.0)), beside.get(place, 0.0)
            found.append((rank._replace(score=rank.score + more), place, number))
    return [one for one in found if one[0].score > 0]


def _best_text(scored: Sequence[_Scored], best: float) -> str:
    """Return all words of the best match by keyword."""
    of, place = next((one.of, p) for one in scored for p, s in one.said.items() if s == best)
    item = of.at([place])[place]
    return f"{item.title}\n{item.text}\n{item.more}"


def _fetch(
    ranks: Sequence[tuple[Rank, int, int]], scored: Sequence[_Scored], wanted: SearchFilter
) -> list[FoundItem]:
    """Fetch the entries that exist and match the filter."""
    numbers = sorted({number for _, _, number in ranks})
    items: list[dict[int, Item]] = each(
        lambda number: scored[number].of.at([place for _, place, n in ranks if n == number]),
        numbers,
    )
    by_index = dict(zip(numbers, items, strict=True))
    hits = []
    for rank, place, number in ranks:
        item, one = by_index[number].get(place), scored[number]
        if item and (wanted.cold or not item.cold) and item.kind in (wanted.kinds or (item.kind,)):
            less = LESS if item.kind in DERIVED and not wanted.kinds else 1.0
            weighed = Rank(*(less * part for part in rank))
            piece = one.near[place].piece if place in one.near else -1
            hits.append(FoundItem(item, one.of.project, weighed, piece))
    return hits


def _distinct(hits: Sequence[FoundItem]) -> list[FoundItem]:
    """Leave out what says nothing else: what nearly repeats a better result, and a checkpoint, a
    segment or a decision whose words stand in the turns of its session that were found."""
    quoting = {hit.item.session for hit in hits if hit.item.kind in DERIVED}
    turns: dict[str, set[str]] = {}
    for hit in hits:
        if hit.item.kind == TURN and hit.item.session in quoting:
            turns.setdefault(hit.item.session, set()).update(_words(hit.item))
    kept: list[FoundItem] = []
    known: list[set[str]] = []
    for hit in hits:
        own = _words(hit.item, COMPARED_CHARS)
        quoted = turns.get(hit.item.session, set()) if hit.item.kind in DERIVED else set()
        is_quoted = len(own & quoted) >= SAME * len(own)
        if not is_quoted and not any(len(own & one) >= SAME * len(own | one) for one in known):
            kept.append(hit)
            known.append(own)
    return kept


def _words(item: Item, most: int = LONGEST_TEXT) -> set[str]:
    return set(words.plain((f"{item.title}\n{item.text}" if item.text else item.more)[:most]))


def each(ask: Callable[[S], T], indexes: Sequence[S]) -> list[T]:
    """Query several indexes in parallel: the engines work outside the interpreter's lock."""
    if len(indexes) < 2:
        return [ask(index) for index in indexes]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(ask, indexes))
