"""Keyword search in PostgreSQL, in the manner of BM25: rare words count more, long texts less.

Ranking every match of a common word is slow. So the candidates are the texts with the rarest words
of the query, as many as can be ranked at once; then all of its words count. How rare a word is
comes from the planner's statistics, and is counted only for words too rare to be in them.

Words and meaning are searched in one statement: a round trip costs more than most of its parts.
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

FITS = "/* fits */"  # where a statement excludes unwanted items
MOST_LOOKED_AT = 1_000  # pgvector's own limit
LOOKED_AT_FOR_ONE = 2  # times the wanted number, in a search of all projects
# The search depth is set in the same statement, for this transaction only.
_ABOUT = sa.text(
    "SELECT items, words, embedder, set_config('hnsw.ef_search', :looked_at, true), "
    "set_config('hnsw.iterative_scan', :goes_on, true) "
    "FROM recall_projects WHERE project = :project"
)
_NEARNESS = (
    "(SELECT -(v.vector <#> cast(:query AS halfvec)) FROM recall_vectors v "
    "WHERE v.project = :project AND v.place = s.place AND v.size = :size)"
)
RANKED_FOR_ONE = 8  # this many times the wanted number can be ranked
MOST_STEMS = 10_000  # kept in memory
FRESH_SECONDS = 300.0
WEIGHTS = "{0.5, 1, 1, 1}"  # of a turn's commands and results, and of its own words
LENGTH = 0.75  # how much the length of a text counts, as in BM25
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
    words: int = 0  # in all of them
    embedder: str = ""


class ScoreQuery(NamedTuple):
    """A statement that returns places and scores, with its parameters."""

    query: str
    given: dict[str, Any]


def count_project(c: Connection, project: str, many: Many) -> ProjectCounts:
    """Return the counts, and set how far the vector search of this transaction looks.

    Projects share partitions of the vectors. A search of one project goes on until it has enough of
    its own. A search of all of them looks once: what is not among the nearest of a partition is not
    among the nearest of all, and to go on took twelve times as many pages.
    """
    looked_at = many.by_meaning * (LOOKED_AT_FOR_ONE if many.everywhere else 1)
    given = {
        "project": project,
        "looked_at": str(max(1, min(looked_at, MOST_LOOKED_AT))),
        "goes_on": "off" if many.everywhere else "relaxed_order",
    }
    row = c.execute(_ABOUT, given).first()
    return ProjectCounts(*row[:3]) if row else ProjectCounts()


def scores(
    c: Connection,
    project: str,
    said: ScoreQuery | None,
    near: ScoreQuery | None,
    wanted: SearchFilter,
) -> tuple[Scores, Scores]:
    """Build the statement for both scores. `said` and `near` find the candidates of each."""
    parts = []
    given: dict[str, Any] = {"project": project, "kinds": list(wanted.kinds)}
    if said:
        beside = _NEARNESS if near else "NULL"
        parts.append(f"SELECT s.place, s.score, {beside} FROM ({said.query}) AS s")
        given |= said.given
    if near:
        parts.append(_fitting(near.query, wanted))
        given |= near.given
    if not parts:
        return {}, {}
    query = " UNION ALL ".join(f"({part})" for part in parts).replace(FITS, fits(wanted))
    rows = c.execute(sa.text(query), given).all()
    by_words = {place: score for place, score, _ in rows if score is not None}
    return by_words, {place: nearness for place, _, nearness in rows if nearness is not None}


def _fitting(query: str, wanted: SearchFilter) -> str:
    """Filter the nearest vectors by their items, because vectors do not know kinds."""
    found = f"SELECT n.place, NULL, n.near FROM ({query}) AS n"
    if wanted == SearchFilter(cold=True):
        return found
    return f"{found} JOIN recall_items i ON i.project = :project AND i.place = n.place {FITS}"


def fits(wanted: SearchFilter) -> str:
    """Return the conditions on items `i` for a filter, which uses the parameter `:kinds`."""
    warm = "" if wanted.cold else " AND NOT i.cold"
    return warm + (" AND i.kind = ANY(:kinds)" if wanted.kinds else "")


class PostgresWords:
    def __init__(self, project: str) -> None:
        self._project = project
        self._lexemes: dict[str, str | None] = {}
        self._common: dict[str, float] = {}
        self._counted: dict[str, int] = {}
        self._looked = -FRESH_SECONDS

    def said(
        self, c: Connection, query: Query, about: ProjectCounts, most: int
    ) -> ScoreQuery | None:
        """Return the statement that ranks by words; None if no item contains any of them."""
        lexemes = self._stems(c, query.terms) if about.items else set()
        rarity = self._frequencies(c, sorted(lexemes), about.items) if lexemes else {}
        chosen = _rarest(rarity, most * RANKED_FOR_ONE)
        return _ranking(rarity, chosen, about, most) if chosen and most else None

    def _stems(self, c: Connection, terms: Sequence[str]) -> set[str]:
        new = [term for term in terms if term not in self._lexemes]
        if new:
            if len(self._lexemes) > MOST_STEMS:
                self._lexemes.clear()
                new = list(terms)
            self._lexemes |= dict(c.execute(_LEXEMES, {"terms": new}).all())
        return {lexeme for term in terms if (lexeme := self._lexemes[term])}

    def _frequencies(self, c: Connection, lexemes: Sequence[str], items: int) -> dict[str, int]:
        """Return about how many items contain each word, without words that are in none."""
        if time.monotonic() - self._looked > FRESH_SECONDS:
            rows = c.execute(_COMMON, {"project": self._project})
            self._common = {word: share for word, share in rows if word is not None}
            self._looked = time.monotonic()
            self._counted.clear()
        known = {w: max(1, round(self._common[w] * items)) for w in lexemes if w in self._common}
        quoted = [_quoted(word) for word in lexemes if word not in known]
        rare = [word for word in quoted if word not in self._counted]
        given = {"project": self._project, "words": rare}
        if rare:
            self._counted |= dict(c.execute(_RARE, given).all())
        counted = {word: self._counted[word] for word in quoted}
        found = {_quoted(word): n for word, n in known.items()} | counted
        return {word: n for word, n in found.items() if n}


def _rarest(rarity: dict[str, int], ranked: int) -> list[str]:
    """Return the rarest words that together match as many items as can be ranked."""
    chosen: list[str] = []
    total = 0
    for word, count in sorted(rarity.items(), key=lambda pair: pair[1]):
        if chosen and total + count > ranked:
            break
        chosen.append(word)
        total += count
    return chosen


def _ranking(
    rarity: dict[str, int], chosen: Sequence[str], about: ProjectCounts, most: int
) -> ScoreQuery:
    items, mean = about.items, max(1.0, about.words / about.items)
    given: dict[str, Any] = {"any": " | ".join(chosen), "said": most, "mean": mean}
    parts = []
    for number, (word, count) in enumerate(rarity.items()):
        rare = math.log(1 + (items - count + 0.5) / (count + 0.5)) if count < items else 0.01
        given |= {f"w{number}": word, f"r{number}": max(rare, 0.01)}
        parts.append(f":r{number} * ts_rank('{WEIGHTS}', words, cast(:w{number} AS tsquery))")
    query = (
        f"SELECT place, ({' + '.join(parts)}) / ({1 - LENGTH} + {LENGTH} * length / :mean) "
        "AS score FROM (SELECT place, words, length FROM recall_items i "
        f"WHERE project = :project AND words @@ cast(:any AS tsquery) {FITS} "
        f"LIMIT {most * RANKED_FOR_ONE}) AS few ORDER BY score DESC LIMIT :said"
    )
    return ScoreQuery(query, given)


def _quoted(lexeme: str) -> str:
    """Quote a word as a query. It has only letters and digits, but is quoted all the same."""
    return "'" + lexeme.replace("'", "''").replace("\\", "\\\\") + "'"
