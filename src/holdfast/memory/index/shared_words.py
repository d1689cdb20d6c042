"""Keyword search in PostgreSQL, in BM25's manner: rare words count more, long texts less.

Ranking every match of a common word is slow, so candidates are those with the rarest words of the
query, as many as can be ranked at once; then all of its words count. How rare a word is comes from
the planner's own statistics, and is counted only for words too rare to be in them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.memory.index.shape import Scores, Wanted
from holdfast.memory.words import Query
from holdfast.store.store import Store

MOST_RANKED = 4_000
FRESH_SECONDS = 300.0
WEIGHTS = "{0.5, 1, 1, 1}"  # of what came with a turn, and of its own words
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


class Words:
    def __init__(self, store: Store, project: str) -> None:
        self._store, self._project = store, project
        self._common: dict[str, float] = {}
        self._counted: dict[str, int] = {}
        self._looked = -FRESH_SECONDS

    def search(self, query: Query, most: int, wanted: Wanted) -> Scores:
        if not query.terms:
            return {}
        return self._store.read(lambda c: self._search(c, query, most, wanted))

    def _search(self, c: Connection, query: Query, most: int, wanted: Wanted) -> Scores:
        size = c.execute(
            sa.text("SELECT items, words FROM recall_projects WHERE project = :project"),
            {"project": self._project},
        ).first()
        found = {
            lexeme for _, lexeme in c.execute(_LEXEMES, {"terms": list(query.terms)}) if lexeme
        }
        if size is None or not size[0] or not found:
            return {}
        rarity = self._frequencies(c, sorted(found), size[0])
        chosen = _rarest(rarity)
        if not chosen:
            return {}
        return _ranked(c, self._project, rarity, chosen, size, most, wanted)

    def _frequencies(self, c: Connection, lexemes: Sequence[str], items: int) -> dict[str, int]:
        """In how many items each word stands, about; without words that are in none."""
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


def _rarest(rarity: dict[str, int]) -> list[str]:
    """The rarest words, until they bring as many items as can be ranked."""
    chosen: list[str] = []
    total = 0
    for word, count in sorted(rarity.items(), key=lambda pair: pair[1]):
        if chosen and total + count > MOST_RANKED:
            break
        chosen.append(word)
        total += count
    return chosen


def _ranked(
    c: Connection,
    project: str,
    rarity: dict[str, int],
    chosen: Sequence[str],
    size: Sequence[Any],
    most: int,
    wanted: Wanted,
) -> Scores:
    items, length = size[0], max(1.0, size[1] / size[0])
    given: dict[str, Any] = {
        "project": project,
        "any": " | ".join(chosen),
        "most": most,
        "mean": length,
        "ranked": MOST_RANKED,
    }
    parts = []
    for number, (word, count) in enumerate(rarity.items()):
        rare = math.log(1 + (items - count + 0.5) / (count + 0.5)) if count < items else 0.01
        given |= {f"w{number}": word, f"r{number}": max(rare, 0.01)}
        parts.append(f":r{number} * ts_rank('{WEIGHTS}', words, cast(:w{number} AS tsquery))")
    some = "" if wanted.cold else "AND NOT cold"
    if wanted.kinds:
        some += " AND kind = ANY(:kinds)"
        given["kinds"] = list(wanted.kinds)
    query = (
        f"SELECT place, ({' + '.join(parts)}) / ({1 - LENGTH} + {LENGTH} * length / :mean) "
        "AS score FROM (SELECT place, words, length FROM recall_items WHERE project = :project "
        f"AND words @@ cast(:any AS tsquery) {some} LIMIT :ranked) AS few "
        "ORDER BY score DESC LIMIT :most"
    )
    return {place: float(score) for place, score in c.execute(sa.text(query), given)}


def _quoted(lexeme: str) -> str:
    """As a query of one word: letters and digits only, but quoted all the same."""
    return "'" + lexeme.replace("'", "''").replace("\\", "\\\\") + "'"
