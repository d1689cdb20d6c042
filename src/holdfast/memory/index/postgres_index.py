"""The index in PostgreSQL, for a team: words by GIN, vectors by pgvector, separated by project.

Each machine adds its own items and removes only those; everybody finds all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection

from holdfast.hub.ingest.gather import machine
from holdfast.hub.store.store import Store
from holdfast.memory import words
from holdfast.memory.index import interface, postgres_vectors, postgres_words
from holdfast.memory.index.interface import (
    ALL,
    POSITIONS,
    TURN_POSITIONS,
    IndexCounts,
    Many,
    Scores,
    SearchFilter,
    Span,
)
from holdfast.memory.item import Item

if TYPE_CHECKING:
    from holdfast.memory.embed.vector import Kept

COLUMNS = (
    "id, kind, author, cold, session, agent, file, first_turn, last_turn, uuids, at, byte, "
    "title, text, more"
)
# One round trip for a whole batch.
INSERT = sa.text(
    f"INSERT INTO recall_items (project, place, hash, {COLUMNS}, length, words) "
    f"SELECT :project, place, hash, {COLUMNS}, length, "
    "setweight(to_tsvector('holdfast', said), 'A') "
    "|| setweight(to_tsvector('holdfast', beside), 'D') "
    "FROM jsonb_to_recordset(:rows) AS new (place bigint, hash text, id text, kind text, "
    "author text, cold boolean, session text, agent text, file text, first_turn integer, "
    "last_turn integer, uuids text, at text, byte bigint, title text, text text, more text, "
    "length integer, said text, beside text)"
).bindparams(sa.bindparam("rows", type_=JSONB))
EVERYBODYS = ("messages",)  # sources that are the same on every machine


def row(place: int, one: Item) -> dict[str, Any]:
    spoken_words = [
        *words.plain(f"{one.title}\n{one.text}"),
        *words.name_parts(f"{one.title}\n{one.text}"),
    ]
    more = [*words.plain(one.more), *words.name_parts(one.more)]
    return {
        "place": place,
        "hash": one.hash,
        "id": one.id,
        "kind": one.kind,
        "author": one.by,
        "cold": one.cold,
        "session": one.session,
        "agent": one.agent,
        "file": one.file,
        "first_turn": one.first_turn,
        "last_turn": one.last_turn,
        "uuids": json.dumps(one.uuids),
        "at": one.at,
        "byte": one.offset,
        "title": one.title,
        "text": one.text,
        "more": one.more,
        "length": len(spoken_words) + len(more),
        "said": " ".join(spoken_words),
        "beside": " ".join(more),
    }


def item(row: Sequence[Any]) -> Item:
    (place, item_id, kind, author, cold, session, agent, file, first, last, uuids, at, byte) = row[
        :13
    ]
    title, text, more = row[13:]
    return Item(
        *(item_id, kind, text, place % POSITIONS, title, more, author, cold, session, agent, file),
        *(first, last, tuple(json.loads(uuids)), at, byte),
    )


class Shared:
    """One project's part of the team's index."""

    def __init__(self, store: Store, project: str) -> None:
        self.project, self.store = project, store
        self._machine = machine()
        self._words = postgres_words.PostgresWords(project)
        self._vectors = postgres_vectors.PostgresVectors(store, project)

    def close(self) -> None:
        """Do nothing: others use the store too."""

    def ask(self, query: str, **values: Any) -> list[Any]:
        given = {"project": self.project, **values}
        return self.store.read(lambda c: list(c.execute(sa.text(query), given)))

    def states(self) -> dict[str, str]:
        query = (
            "SELECT name, state FROM recall_sources "
            "WHERE project = :project AND machine IN (:machine, '')"
        )
        return dict(self.ask(query, machine=self._machine))

    def take(
        self, source: str, since: str, until: str, items: Sequence[Item], span: Span = ALL
    ) -> bool:
        return self.store.write(lambda c: self._take(c, source, since, until, items, span))

    def _take(
        self,
        connection: Connection,
        source: str,
        since: str,
        until: str,
        items: Sequence[Item],
        span: Span,
    ) -> bool:
        number, state = self._source(connection, source)
        if state != since:
            return False
        base = number * POSITIONS
        self._replace(connection, base, (base + span[0], base + span[1]), items)
        query = "UPDATE recall_sources SET state = :until WHERE number = :number"
        connection.execute(sa.text(query), {"until": until, "number": number})
        return True

    def _source(self, connection: Connection, source: str) -> tuple[int, str]:
        """Return the source's number and state, with its row locked: one process at a time changes
        it."""
        given = {
            "project": self.project,
            "machine": "" if source in EVERYBODYS else self._machine,
            "name": source,
        }
        connection.execute(
            sa.text(
                "INSERT INTO recall_sources (project, machine, name, state) "
                "VALUES (:project, :machine, :name, '') ON CONFLICT DO NOTHING"
            ),
            given,
        )
        query = (
            "SELECT number, state FROM recall_sources WHERE project = :project "
            "AND machine = :machine AND name = :name FOR UPDATE"
        )
        number, state = connection.execute(sa.text(query), given).one()
        return number, state

    def _replace(
        self, connection: Connection, base: int, span: Span, items: Sequence[Item]
    ) -> None:
        query = sa.text(
            "SELECT place, id || hash || cold::int || file FROM recall_items "
            "WHERE project = :project AND place >= :low AND place < :high"
        )
        given = {"project": self.project, "low": span[0], "high": span[1]}
        there: dict[int, str] = dict(connection.execute(query, given).all())
        once = {item.id: item for item in items}.values()
        new = {base + item.position: item for item in once}
        stays = {p for p, item in new.items() if there.get(p) == interface.sameness(item)}
        gone = [place for place in there if place not in stays]
        kept = self._vectors.of_hashes(connection, gone)
        self._drop(connection, gone)
        added = [row(p, item) for p, item in new.items() if p not in stays]
        if added:
            connection.execute(INSERT, {"project": self.project, "rows": added})
        self._vectors.put_again(
            connection, {one["place"]: kept[one["hash"]] for one in added if one["hash"] in kept}
        )
        self._count(connection, len(added), sum(one["length"] for one in added))

    def _count(self, connection: Connection, items: int, length: int, vectors: int = 0) -> None:
        connection.execute(
            sa.text(
                "INSERT INTO recall_projects (project, items, words, vectors) "
                "VALUES (:project, :items, :length, :vectors) ON CONFLICT (project) DO UPDATE "
                "SET items = recall_projects.items + :items, "
                "words = recall_projects.words + :length, "
                "vectors = recall_projects.vectors + :vectors"
            ),
            {"project": self.project, "items": items, "length": length, "vectors": vectors},
        )

    def _drop(self, connection: Connection, gone: Sequence[int]) -> None:
        if not gone:
            return
        query = sa.text(
            "DELETE FROM recall_items WHERE project = :project AND place = ANY(:places) "
            "RETURNING length"
        )
        given = {"project": self.project, "places": list(gone)}
        lengths = [length for (length,) in connection.execute(query, given)]
        vectors = self._vectors.drop(connection, gone)
        self._count(connection, -len(lengths), -sum(lengths), -vectors)

    def begin_again(self) -> None:
        query = sa.text(
            "UPDATE recall_sources SET state = '' WHERE project = :project AND machine = :machine"
        )
        given = {"project": self.project, "machine": self._machine}
        self.store.write(lambda c: c.execute(query, given))

    def forget(self, source: str) -> int:
        return self.store.write(lambda c: self._forget(c, source))

    def _forget(self, connection: Connection, source: str) -> int:
        number, _ = self._source(connection, source)
        query = sa.text(
            "SELECT place FROM recall_items WHERE project = :project "
            "AND place >= :low AND place < :high"
        )
        low = number * POSITIONS
        given = {"project": self.project, "low": low, "high": low + POSITIONS}
        gone = [place for (place,) in connection.execute(query, given)]
        self._drop(connection, gone)
        query = sa.text("DELETE FROM recall_sources WHERE number = :number")
        connection.execute(query, {"number": number})
        return len(gone)

    def scores(
        self, query: words.Query, vectors: Mapping[str, Any], many: Many, wanted: SearchFilter
    ) -> tuple[Scores, Scores]:
        return self.store.read(
            lambda c: self._scores(c, query, vectors, many, wanted), in_transaction=True
        )

    def _scores(
        self,
        connection: Connection,
        query: words.Query,
        vectors: Mapping[str, Any],
        many: Many,
        wanted: SearchFilter,
    ) -> tuple[Scores, Scores]:
        counts = postgres_words.prepare_search(connection, self.project, many)
        by_words = self._words.build_query(connection, query, counts, many.by_words)
        near = self._vectors.near(connection, vectors.get(counts.embedder), many.by_meaning)
        return postgres_words.fetch_scores(connection, self.project, by_words, near, wanted)

    def newest(self, most: int, wanted: SearchFilter) -> list[int]:
        query = (
            "SELECT i.place FROM recall_items i WHERE i.project = :project "
            f"{postgres_words.filter_conditions(wanted)} "
            "ORDER BY i.at DESC, i.place DESC LIMIT :most"
        )
        return [row[0] for row in self.ask(query, kinds=list(wanted.kinds), most=most)]

    def at(self, places: Iterable[int]) -> dict[int, Item]:
        query = (
            f"SELECT place, {COLUMNS} FROM recall_items "
            "WHERE project = :project AND place = ANY(:places)"
        )
        return {row[0]: item(row) for row in self.ask(query, places=list(places))}

    def in_turns(self, starts: Sequence[int]) -> list[tuple[int, str, str]]:
        query = (
            "SELECT i.place, i.kind, i.author FROM unnest(cast(:starts AS bigint[])) one "
            "JOIN recall_items i ON i.project = :project "
            "AND i.place >= one AND i.place < one + :size ORDER BY i.place"
        )
        rows = self.ask(query, starts=list(starts), size=TURN_POSITIONS)
        return [(place, kind, by) for place, kind, by in rows]

    def last_words(self, starts: Sequence[int]) -> set[int]:
        query = (
            "SELECT last.place FROM unnest(cast(:starts AS bigint[])) one, LATERAL ("
            "SELECT place FROM recall_items WHERE project = :project AND author = 'model' "
            "AND place >= one AND place < one + :size ORDER BY place DESC LIMIT 1) last"
        )
        return {place for (place,) in self.ask(query, starts=list(starts), size=TURN_POSITIONS)}

    def find(self, item_id: str) -> Item | None:
        query = f"SELECT place, {COLUMNS} FROM recall_items WHERE project = :project AND id = :id"
        rows = self.ask(query, id=item_id)
        return item(rows[0]) if rows else None

    def beginning(self, start: str, most: int) -> list[str]:
        query = (
            "SELECT id FROM recall_items WHERE project = :project AND starts_with(id, :start) "
            'ORDER BY id COLLATE "C" LIMIT :most'
        )
        return [row[0] for row in self.ask(query, start=start, most=most)]

    def counts(self) -> IndexCounts:
        query = "SELECT items, vectors, embedder FROM recall_projects WHERE project = :project"
        rows = self.ask(query)
        return IndexCounts(*rows[0]) if rows else IndexCounts()

    def kinds(self) -> dict[str, int]:
        query = (
            "SELECT kind, count(*) FROM recall_items WHERE project = :project "
            "GROUP BY kind ORDER BY kind"
        )
        return dict(self.ask(query))

    def begin_vectors(self, embedder: str) -> None:
        self._vectors.begin(embedder)

    def without_vector(self, most: int) -> Sequence[tuple[int, str, str]]:
        return self._vectors.missing(most)

    def put_vectors(self, embedder: str, found: Mapping[tuple[int, str], Kept]) -> int:
        return self._vectors.put(embedder, found)
