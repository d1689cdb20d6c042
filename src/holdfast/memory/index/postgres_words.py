"""Keyword search in PostgreSQL, similar to BM25: rare words count more, long texts count less.

Ranking every match of a common word is slow. So the rarest words of the query choose a limited
number of candidates, and all words of the query rank these. PostgreSQL's statistics tell how many
items contain a common word; for words that are not in the statistics the items are counted.

One statement searches by words and by meaning, because a round trip costs more than most searches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.memory.index.interface import Many, Scores, SearchFilter
from holdfast.memory.words import Query

FILTER_SLOT = "/* filter */"  # replaced with the conditions of the search filter
MOST_VECTORS = 1_000  # pgvector's limit of `ef_search`
VECTORS_PER_RESULT = 2  # examined for each result, in a search of all projects
# The search depth is set in the same statement, for this transaction only.
_COUNT_AND_SET_DEPTH = sa.text(
    "SELECT items, words, embedder, set_config('hnsw.ef_search', :vectors, true), "
    "set_config('hnsw.iterative_scan', :scan, true) "
    "FROM recall_projects WHERE project = :project"
)
_NEARNESS = (
    "(SELECT -(v.vector <#> cast(:query AS halfvec)) FROM recall_vectors v "
    "WHERE v.project = :project AND v.place = s.place AND v.size = :size)"
)
CANDIDATES_PER_RESULT = 8  # ranked for each result
MOST_STEMS = 10_000  # cached
STATISTICS_SECONDS = 300.0  # for so long they are not read again
WEIGHTS = "{0.5, 1, 1, 1}"  # the first is for the commands and results of a turn
LENGTH_WEIGHT = 0.75  # as `b` in BM25
_LEXEMES = sa.text(
    "SELECT word, (ts_lexize('holdfast_stem', word))[1] FROM unnest(cast(:terms AS text[])) word"
)
_COMMON = sa.text(
    "SELECT unnest(most_common_elems::text::text[]), unnest(most_common_elem_freqs) "
    "FROM pg_stats WHERE tablename = (SELECT tableoid::regclass::text FROM recall_items "
    "WHERE project = :project LIMIT 1) AND attname = 'words'"
)
_RARE = sa.text(
    "SELECT word, (SELECT count(*) FROM recall_items "
    "WHERE project = :project AND words @@ word::tsquery) FROM unnest(cast(:words AS text[])) word"
)


class ProjectCounts(NamedTuple):
    """How many items and words a project has, and its embedder."""

    items: int = 0
    words: int = 0  # in all items
    embedder: str = ""


class ScoreQuery(NamedTuple):
    """A statement that returns places and scores, with its parameters."""

    query: str
    given: dict[str, Any]


def prepare_search(c: Connection, project: str, many: Many) -> ProjectCounts:
    """Return the counts of a project, and set the depth of this transaction's vector search.

    Several projects share a partition of the vectors. A search of one project continues until it
    has enough vectors of that project. A search of all projects reads each partition once: an item
    that is not among the nearest of its partition is not among the nearest of all. Continuing read
    twelve times as many pages.
    """
    vectors = many.by_meaning * (VECTORS_PER_RESULT if many.everywhere else 1)
    given = {
        "project": project,
        "vectors": str(max(1, min(vectors, MOST_VECTORS))),
        "scan": "off" if many.everywhere else "relaxed_order",
    }
    row = c.execute(_COUNT_AND_SET_DEPTH, given).first()
    return ProjectCounts(*row[:3]) if row else ProjectCounts()


def fetch_scores(
    c: Connection,
    project: str,
    by_words: ScoreQuery | None,
    by_meaning: ScoreQuery | None,
    wanted: SearchFilter,
) -> tuple[Scores, Scores]:
    """Return the scores by words and by meaning, by place. Each query finds its own candidates."""
    parts = []
    given: dict[str, Any] = {"project": project, "kinds": list(wanted.kinds)}
    if by_words:
        nearness = _NEARNESS if by_meaning else "NULL"
        parts.append(f"SELECT s.place, s.score, {nearness} FROM ({by_words.query}) AS s")
        given |= by_words.given
    if by_meaning:
        parts.append(_filter_vectors(by_meaning.query, wanted))
        given |= by_meaning.given
    if not parts:
        return {}, {}
    query = " UNION ALL ".join(f"({part})" for part in parts).replace(
        FILTER_SLOT, filter_conditions(wanted)
    )
    rows = c.execute(sa.text(query), given).all()
    word_scores = {place: score for place, score, _ in rows if score is not None}
    return word_scores, {place: near for place, _, near in rows if near is not None}


def _filter_vectors(query: str, wanted: SearchFilter) -> str:
    """Filter the nearest vectors by their items, because the table of vectors has no kinds."""
    found = f"SELECT n.place, NULL, n.near FROM ({query}) AS n"
    if wanted == SearchFilter(cold=True):
        return found
    return (
        f"{found} JOIN recall_items i ON i.project = :project AND i.place = n.place {FILTER_SLOT}"
    )


def filter_conditions(wanted: SearchFilter) -> str:
    """Return the SQL conditions of a filter on the table `i`, with the parameter `:kinds`."""
    warm = "" if wanted.cold else " AND NOT i.cold"
    return warm + (" AND i.kind = ANY(:kinds)" if wanted.kinds else "")


class PostgresWords:
    """Builds the keyword searches of one project; caches stems and word counts."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._lexemes: dict[str, str | None] = {}
        self._common: dict[str, float] = {}
        self._counted: dict[str, int] = {}
        self._statistics_at = -STATISTICS_SECONDS

    def build_query(
        self, c: Connection, query: Query, project: ProjectCounts, most: int
    ) -> ScoreQuery | None:
        """Return the statement that ranks by words; None if no item contains any of them."""
        lexemes = self._stem(c, query.terms) if project.items else set()
        counts = self._count_items(c, sorted(lexemes), project.items) if lexemes else {}
        rarest = _choose_rarest(counts, most * CANDIDATES_PER_RESULT)
        return _build_ranking(counts, rarest, project, most) if rarest and most else None

    def _stem(self, c: Connection, terms: Sequence[str]) -> set[str]:
        new = [term for term in terms if term not in self._lexemes]
        if new:
            if len(self._lexemes) > MOST_STEMS:
                self._lexemes.clear()
                new = list(terms)
            self._lexemes |= dict(c.execute(_LEXEMES, {"terms": new}).all())
        return {lexeme for term in terms if (lexeme := self._lexemes[term])}

    def _count_items(self, c: Connection, lexemes: Sequence[str], items: int) -> dict[str, int]:
        """Return about how many items contain each word; words in no item are left out."""
        if time.monotonic() - self._statistics_at > STATISTICS_SECONDS:
            rows = c.execute(_COMMON, {"project": self._project})
            self._common = {word: share for word, share in rows if word is not None}
            self._statistics_at = time.monotonic()
            self._counted.clear()
        known = {w: max(1, round(self._common[w] * items)) for w in lexemes if w in self._common}
        quoted = [_quote(word) for word in lexemes if word not in known]
        rare = [word for word in quoted if word not in self._counted]
        given = {"project": self._project, "words": rare}
        if rare:
            self._counted |= dict(c.execute(_RARE, given).all())
        counted = {word: self._counted[word] for word in quoted}
        found = {_quote(word): n for word, n in known.items()} | counted
        return {word: n for word, n in found.items() if n}


def _choose_rarest(counts: dict[str, int], most_items: int) -> list[str]:
    """Return the rarest words that together match at most `most_items`; at least one word."""
    chosen: list[str] = []
    total = 0
    for word, count in sorted(counts.items(), key=lambda pair: pair[1]):
        if chosen and total + count > most_items:
            break
        chosen.append(word)
        total += count
    return chosen


def _build_ranking(
    counts: dict[str, int], rarest: Sequence[str], project: ProjectCounts, most: int
) -> ScoreQuery:
    items, mean = project.items, max(1.0, project.words / project.items)
    given: dict[str, Any] = {"any": " | ".join(rarest), "most": most, "mean": mean}
    parts = []
    for number, (word, count) in enumerate(counts.items()):
        rarity = math.log(1 + (items - count + 0.5) / (count + 0.5)) if count < items else 0.01
        given |= {f"w{number}": word, f"r{number}": max(rarity, 0.01)}
        parts.append(f":r{number} * ts_rank('{WEIGHTS}', words, cast(:w{number} AS tsquery))")
    query = (
        f"SELECT place, ({' + '.join(parts)}) / "
        f"({1 - LENGTH_WEIGHT} + {LENGTH_WEIGHT} * length / :mean) "
        "AS score FROM (SELECT place, words, length FROM recall_items i "
        f"WHERE project = :project AND words @@ cast(:any AS tsquery) {FILTER_SLOT} "
        f"LIMIT {most * CANDIDATES_PER_RESULT}) AS few ORDER BY score DESC LIMIT :most"
    )
    return ScoreQuery(query, given)


def _quote(lexeme: str) -> str:
    """Quote a word for a query, although it should have only letters and digits."""
    return "'" + lexeme.replace("'", "''").replace("\\", "\\\\") + "'"
