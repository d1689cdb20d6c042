"""The index in PostgreSQL, for a team: words by GIN, vectors by pgvector, separated by project.

Each machine adds its own entries and removes only those; everybody finds all of them. Without
pgvector on the server there are no vectors, and every answer says so.

Keyword search is similar to BM25: rare words count more, long texts count less. Ranking every match
of a common word is slow, so the rarest words of the query choose the candidates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.ingest.gather import machine
from holdfast.hub.store.store import Store
from holdfast.memory import words
from holdfast.memory.embedders import NoEmbedder
from holdfast.memory.index import (
    COLUMNS,
    Index,
    IndexCounts,
    Many,
    NearPiece,
    Scores,
    SearchFilter,
    Statement,
    best_of,
    listing,
)
from holdfast.memory.item import Item

if TYPE_CHECKING:
    from holdfast.memory.vector import Array, Kept

T = TypeVar("T")
EVERYBODYS = ("messages",)  # sources that are the same on every machine
OLDEST = (0, 8)  # of pgvector: `halfvec` came with 0.7, `iterative_scan` with 0.8
SIZE = 384  # of the usual model's vectors: these have an index
PARTS = 16
SAMPLE = 2_000  # vectors of which the mean is made
PIECES_FOR_ONE, MOST_PIECES = 3, 1_000  # compared for each entry; pgvector's limit of `ef_search`
CANDIDATES_FOR_ONE = 8  # ranked for each result
COUNTED = 2_000  # an entry's word is counted so far; of a more common one half of them is assumed
WEIGHTS = "{0.5, 1, 1, 1}"  # the first is for the commands and results of a turn
LENGTH_WEIGHT = 0.75  # as `b` in BM25
_LOCK = 0x401DFA5D
_INSERT = (
    f"INSERT INTO recall_items (project, place, hash, {COLUMNS}, length, words) "
    f"SELECT :project, place, hash, {COLUMNS}, length, "
    "setweight(to_tsvector('holdfast', said), 'A') "
    "|| setweight(to_tsvector('holdfast', beside), 'D') "
    "FROM jsonb_to_recordset(cast(:rows AS jsonb)) AS new (place bigint, hash text, id text, "
    "kind text, author text, cold boolean, session text, agent text, file text, "
    "first_turn integer, last_turn integer, uuids text, at text, byte bigint, title text, "
    "text text, more text, length integer, said text, beside text)"
)
NEAR = (
    "CREATE INDEX IF NOT EXISTS recall_vectors_near ON recall_vectors "
    f"USING hnsw ((vector::halfvec({SIZE})) halfvec_ip_ops) WHERE size = {SIZE}"
)
_VECTORS = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    (
        "CREATE TABLE IF NOT EXISTS recall_vectors (project text NOT NULL, place bigint NOT NULL, "
        "piece integer NOT NULL, size integer NOT NULL, vector halfvec NOT NULL, "
        "PRIMARY KEY (project, place, piece)) PARTITION BY HASH (project)"
    ),
    *(
        f"CREATE TABLE IF NOT EXISTS recall_vectors_{number} PARTITION OF recall_vectors "
        f"FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {number})"
        for number in range(PARTS)
    ),
    NEAR,
)
_COUNT = (
    "INSERT INTO recall_projects (project, items, words, vectors) "
    "VALUES (:project, :items, :length, :vectors) ON CONFLICT (project) DO UPDATE SET "
    "items = recall_projects.items + :items, words = recall_projects.words + :length, "
    "vectors = recall_projects.vectors + :vectors"
)
_LEXEMES = (
    "SELECT DISTINCT quote_literal((ts_lexize('holdfast_stem', word))[1]) "
    "FROM unnest(cast(:terms AS text[])) word WHERE (ts_lexize('holdfast_stem', word))[1] != ''"
)
_HOW_MANY = (
    "SELECT word, (SELECT count(*) FROM (SELECT 1 FROM recall_items WHERE project = :project "
    f"AND words @@ word::tsquery LIMIT {COUNTED}) AS few) FROM unnest(cast(:words AS text[])) word"
)


def refuse_older(version: str | None) -> None:
    """Raise NoEmbedder if the server has no pgvector, or one that lacks what we need."""
    if not version:
        raise NoEmbedder("this PostgreSQL has no pgvector")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise NoEmbedder(f"this PostgreSQL has pgvector {version}, {needed} or newer is needed")


class Shared(Index):
    """One project's part of the team's index."""

    mine, table, sources, collate = "project = :project AND", "recall_items", "recall_sources", "C"

    def __init__(self, store: Store, project: str) -> None:
        self.project, self.store = project, store
        self._machine = machine()
        self._has_vectors = False

    def close(self) -> None:
        """Do nothing: others use the store too."""

    def _ask_in(self, c: Connection) -> Statement:
        def ask(query: str, /, **values: Any) -> list[Any]:
            given = {"project": self.project, "machine": self._machine, **values}
            rows = c.execute(sa.text(query), given)
            return list(map(tuple, rows)) if rows.returns_rows else []

        return ask

    def ask(self, query: str, /, **values: Any) -> list[Any]:
        return self.store.read(lambda c: self._ask_in(c)(query, **values))

    def write(self, change: Callable[[Statement], T]) -> T:
        return self.store.write(lambda c: change(self._ask_in(c)))

    def states(self) -> dict[str, str]:
        query = (
            "SELECT name, state FROM recall_sources "
            "WHERE project = :project AND machine IN (:machine, '')"
        )
        return dict(self.ask(query))

    def _source(self, ask: Statement, name: str) -> tuple[int, str]:
        owner = "" if name in EVERYBODYS else self._machine
        ask(
            "INSERT INTO recall_sources (project, machine, name, state) "
            "VALUES (:project, :owner, :name, '') ON CONFLICT DO NOTHING",
            owner=owner,
            name=name,
        )
        query = (
            "SELECT number, state FROM recall_sources WHERE project = :project "
            "AND machine = :owner AND name = :name FOR UPDATE"
        )
        [(number, state)] = ask(query, owner=owner, name=name)
        return number, state

    def begin_again(self) -> None:
        sql = "UPDATE recall_sources SET state = '' WHERE project = :project AND machine = :machine"
        self.write(lambda ask: ask(sql))

    def _add(self, ask: Statement, added: Sequence[tuple[int, Item]]) -> None:
        rows = [_row(place, item) for place, item in added]
        if rows:
            ask(_INSERT, rows=json.dumps(rows))
            ask(_COUNT, items=len(rows), length=sum(row["length"] for row in rows), vectors=0)

    def _drop(self, ask: Statement, gone: Sequence[int]) -> None:
        if not (listed := listing(gone)):
            return
        chosen = f"WHERE project = :project AND place IN ({listed})"
        rows = ask(f"DELETE FROM recall_items {chosen} RETURNING length, embedded")
        vectors = -sum(embedded for _, embedded in rows)
        ask(_COUNT, items=-len(rows), length=-sum(length for length, _ in rows), vectors=vectors)
        if vectors:
            ask(f"DELETE FROM recall_vectors {chosen}")

    def counts(self) -> IndexCounts:
        query = "SELECT items, vectors, embedder FROM recall_projects WHERE project = :project"
        rows = self.ask(query)
        return IndexCounts(*rows[0]) if rows else IndexCounts()

    def begin_vectors(self, embedder: str) -> None:
        """Create the table with the first vectors: the extension may be installed later."""

        def change(ask: Statement) -> None:
            if not self._can_be_near(ask):
                available = (
                    "SELECT coalesce(installed_version, default_version) "
                    "FROM pg_available_extensions WHERE name = 'vector'"
                )
                rows = ask(available)
                refuse_older(rows[0][0] if rows else None)
                ask(f"SELECT pg_advisory_xact_lock({_LOCK})")
                for statement in _VECTORS:
                    ask(statement)
            ask(_COUNT, items=0, length=0, vectors=0)
            if self._embedder(ask) != embedder:
                ask("DELETE FROM recall_vectors WHERE project = :project")
                ask("UPDATE recall_items SET embedded = false WHERE project = :project")
                ask(
                    "UPDATE recall_projects SET embedder = :embedder, vectors = 0 "
                    "WHERE project = :project",
                    embedder=embedder,
                )

        self.write(change)

    def _can_be_near(self, ask: Statement) -> bool:
        if not self._has_vectors:
            [(self._has_vectors,)] = ask("SELECT to_regclass('recall_vectors') IS NOT NULL")
        return self._has_vectors

    def _embedder(self, ask: Statement) -> str:
        query = "SELECT embedder FROM recall_projects WHERE project = :project FOR UPDATE"
        rows = ask(query)
        return str(rows[0][0]) if rows else ""

    def _put(self, ask: Statement, place: int, made: Sequence[Kept]) -> None:
        from holdfast.memory.vector import decode

        query = (
            "INSERT INTO recall_vectors (project, place, piece, size, vector) "
            "VALUES (:project, :place, :piece, :size, cast(:vector AS halfvec))"
        )
        for piece, vector in enumerate(decode([one.parts for one in made])):
            ask(query, place=place, piece=piece, size=len(vector), vector=_written(vector))
        ask(_COUNT, items=0, length=0, vectors=1)

    def scores(
        self, query: words.Query, vectors: Mapping[str, Any], many: Many, wanted: SearchFilter
    ) -> tuple[Scores, dict[int, NearPiece]]:
        """Search in one transaction, for which the depth of the vector search is set."""

        def search(c: Connection) -> tuple[Scores, dict[int, NearPiece]]:
            ask = self._ask_in(c)
            said = self._said(ask, query, many.by_words, wanted)
            vector = vectors.get(self.counts().embedder) if vectors else None
            if vector is None or not self._can_be_near(ask):
                return said, {}
            return said, self._nearest(ask, vector, many, wanted, said)

        return self.store.read(search, in_transaction=True)

    def _said(self, ask: Statement, query: words.Query, most: int, wanted: SearchFilter) -> Scores:
        totals = ask("SELECT items, words FROM recall_projects WHERE project = :project")
        lexemes = [word for (word,) in ask(_LEXEMES, terms=list(query.terms))] if totals else []
        counts = {word: n for word, n in ask(_HOW_MANY, words=lexemes) if n} if lexemes else {}
        if not counts or not most:
            return {}
        [(items, length)] = totals
        candidates = most * CANDIDATES_FOR_ONE
        given: dict[str, Any] = {"any": " | ".join(_rarest(counts, candidates)), "most": most}
        parts = []
        for number, (word, count) in enumerate(counts.items()):
            known = count if count < COUNTED else max(count, items / 2)
            rarity = math.log(1 + (items - known + 0.5) / (known + 0.5)) if known < items else 0.01
            given |= {f"word{number}": word, f"rarity{number}": rarity}
            rank = f"ts_rank('{WEIGHTS}', words, cast(:word{number} AS tsquery))"
            parts.append(f"cast(:rarity{number} AS float) * {rank}")
        given["mean"] = max(1.0, length / items)
        statement = (
            f"SELECT place, ({' + '.join(parts)}) / "
            f"({1 - LENGTH_WEIGHT} + {LENGTH_WEIGHT} * length / cast(:mean AS float)) AS score "
            "FROM (SELECT place, words, length FROM recall_items i WHERE project = :project "
            f"AND words @@ cast(:any AS tsquery) {_only(wanted)} LIMIT {candidates}) AS few "
            "ORDER BY score DESC LIMIT :most"
        )
        return dict(ask(statement, **given, kinds=list(wanted.kinds)))

    def _nearest(
        self, ask: Statement, query: Array, many: Many, wanted: SearchFilter, said: Scores
    ) -> dict[int, NearPiece]:
        """Return the nearest entries, and how near those are that were found by words.

        Several projects share a partition of the vectors. A search of one project goes on until it
        has enough of its own. A search of all reads each partition once: an entry that is not among
        the nearest of its partition is not among the nearest of all."""
        wanted_pieces = min(many.by_meaning * PIECES_FOR_ONE, MOST_PIECES)
        ask(
            "SELECT set_config('hnsw.ef_search', :depth, true), "
            "set_config('hnsw.iterative_scan', :scan, true)",
            depth=str(max(1, wanted_pieces)),
            scan="off" if many.everywhere else "relaxed_order",
        )
        size = len(query)
        distance = f"(v.vector::halfvec({size})) <#> cast(:query AS halfvec({size}))"
        of_project = f"FROM recall_vectors v WHERE v.project = :project AND v.size = {size}"
        nearest = (
            f"SELECT n.place, n.piece, n.near FROM (SELECT v.place, v.piece, -({distance}) AS near "
            f"{of_project} ORDER BY {distance} LIMIT {wanted_pieces}) AS n "
            "JOIN recall_items i ON i.project = :project AND i.place = n.place " + _only(wanted)
        )
        centred = _written(query - self._mean(ask, size))
        near = best_of(ask(nearest, query=centred, kinds=list(wanted.kinds)))
        best = dict(sorted(near.items(), key=lambda one: -one[1].score)[: many.by_meaning])
        if others := listing(place for place in said if place not in best):
            sql = f"SELECT v.place, v.piece, -({distance}) {of_project} AND v.place IN ({others})"
            best |= best_of(ask(sql, query=centred))
        return best

    def _mean(self, ask: Statement, size: int) -> Any:
        """Return the mean of the vectors: a text close to everything counts less."""
        import numpy as np

        from holdfast.memory.vector import mean_of

        query = (
            "SELECT vector::text FROM (SELECT vector FROM recall_vectors "
            f"WHERE project = :project AND size = {size} LIMIT {SAMPLE}) AS few"
        )
        rows = [json.loads(vector) for (vector,) in ask(query)]
        return mean_of(np.array(rows, np.float32)) if rows else 0.0


def _rarest(counts: dict[str, int], most_items: int) -> list[str]:
    """Return the rarest words that together match at most `most_items`; at least one word."""
    chosen: list[str] = []
    total = 0
    for word, count in sorted(counts.items(), key=lambda pair: pair[1]):
        if chosen and total + count > most_items:
            break
        chosen.append(word)
        total += count
    return chosen


def _only(wanted: SearchFilter) -> str:
    warm = "" if wanted.cold else " AND NOT i.cold"
    return warm + (" AND i.kind = ANY(cast(:kinds AS text[]))" if wanted.kinds else "")


def _written(vector: Any) -> str:
    return "[" + ",".join(f"{part:.5g}" for part in vector.tolist()) + "]"


def _row(place: int, one: Item) -> dict[str, Any]:
    words_said = [
        *words.plain(f"{one.title}\n{one.text}"),
        *words.name_parts(f"{one.title}\n{one.text}"),
    ]
    more = [*words.plain(one.more), *words.name_parts(one.more)]
    return {
        **{name: value for name, value in one._asdict().items() if name not in ("by", "offset")},
        "place": place,
        "hash": one.hash,
        "author": one.by,
        "uuids": json.dumps(one.uuids),
        "byte": one.offset,
        "length": len(words_said) + len(more),
        "said": " ".join(words_said),
        "beside": " ".join(more),
    }
