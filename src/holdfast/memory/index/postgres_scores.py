"""Both sides of a search in one statement: a way there and back costs more than most of its parts.

What was found by words is compared by meaning in the same breath.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.memory.index.interface import Many, Scores, Wanted

FITS = "/* fits */"  # where a part of a statement leaves out what is not wanted
MOST_LOOKED_AT = 1_000  # pgvector's own limit
# How far to look rides along: settings of this transaction only.
_ABOUT = sa.text(
    "SELECT items, words, embedder, set_config('hnsw.ef_search', :looked_at, true), "
    "set_config('hnsw.iterative_scan', 'relaxed_order', true) "
    "FROM recall_projects WHERE project = :project"
)
_NEARNESS = (
    "(SELECT -(v.vector <#> cast(:query AS halfvec)) FROM recall_vectors v "
    "WHERE v.project = :project AND v.place = s.place AND v.size = :size)"
)


class About(NamedTuple):
    """A project in numbers."""

    items: int = 0
    words: int = 0  # in all of them
    embedder: str = ""


class Part(NamedTuple):
    """A statement of places and their scores, and what it is given."""

    query: str
    given: dict[str, Any]


def about(c: Connection, project: str, many: Many) -> About:
    looked_at = str(max(1, min(many.by_meaning, MOST_LOOKED_AT)))
    row = c.execute(_ABOUT, {"project": project, "looked_at": looked_at}).first()
    return About(*row[:3]) if row else About()


def scores(
    c: Connection, project: str, said: Part | None, near: Part | None, wanted: Wanted
) -> tuple[Scores, Scores]:
    """By words and by meaning; `said` and `near` find the candidates of each."""
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


def _fitting(query: str, wanted: Wanted) -> str:
    """The nearest know nothing of what they are: their items do."""
    found = f"SELECT n.place, NULL, n.near FROM ({query}) AS n"
    if wanted == Wanted(cold=True):
        return found
    return f"{found} JOIN recall_items i ON i.project = :project AND i.place = n.place {FITS}"


def fits(wanted: Wanted) -> str:
    """What leaves out of the items `i` those that are not wanted; `:kinds` is given with it."""
    warm = "" if wanted.cold else " AND NOT i.cold"
    return warm + (" AND i.kind = ANY(:kinds)" if wanted.kinds else "")
