"""Vectors in PostgreSQL by pgvector: `halfvec`, with HNSW for the usual model's size, else a full
scan.

Without pgvector on the server there are no vectors, and every answer reports it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.store import Store
from holdfast.memory.embed.embedders import NoEmbedder
from holdfast.memory.index.postgres_words import ScoreQuery

if TYPE_CHECKING:
    from holdfast.memory.embed.vector import Array, Kept

PARTS = 16
USUAL = 384
FRESH_SECONDS = 300.0
_HAS = "SELECT to_regclass('recall_vectors') IS NOT NULL"
OLDEST = (0, 8)  # of pgvector: `halfvec` came with 0.7, `iterative_scan` with 0.8
_CAN = (
    "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions "
    "WHERE name = 'vector'"
)
NEAR = (
    "CREATE INDEX IF NOT EXISTS recall_vectors_near ON recall_vectors "
    f"USING hnsw ((vector::halfvec({USUAL})) halfvec_ip_ops) WHERE size = {USUAL}"
)
_MAKE = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    (
        "CREATE TABLE IF NOT EXISTS recall_vectors (project text NOT NULL, place bigint NOT NULL, "
        "size integer NOT NULL, vector halfvec NOT NULL, PRIMARY KEY (project, place)) "
        "PARTITION BY HASH (project)"
    ),
    *(
        f"CREATE TABLE IF NOT EXISTS recall_vectors_{number} PARTITION OF recall_vectors "
        f"FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {number})"
        for number in range(PARTS)
    ),
    NEAR,
)
_KNOWN = "INSERT INTO recall_projects (project) VALUES (:project) ON CONFLICT DO NOTHING"
_ANOTHER = (
    "UPDATE recall_projects SET embedder = :embedder, vectors = 0 "
    "WHERE project = :project AND embedder != :embedder"
)
_LOCK = 0x401DFA5D


def refuse_older(version: str | None) -> None:
    """Raise NoEmbedder if the server has no pgvector, or one that lacks what we need."""
    if not version:
        raise NoEmbedder("this PostgreSQL has no pgvector")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise NoEmbedder(f"this PostgreSQL has pgvector {version}, {needed} or newer is needed")


class PostgresVectors:
    def __init__(self, store: Store, project: str) -> None:
        self._store, self._project = store, project
        self._has = False
        self._mean: Array | None = None
        self._meant = -FRESH_SECONDS

    def _there(self, c: Connection) -> bool:
        self._has = self._has or bool(c.execute(sa.text(_HAS)).scalar())
        return self._has

    def begin(self, embedder: str) -> None:
        """Create the table with the first vectors: the extension may be installed later."""
        self._store.write(lambda c: self._begin(c, embedder))

    def _begin(self, c: Connection, embedder: str) -> None:
        if not self._there(c):
            refuse_older(c.execute(sa.text(_CAN)).scalar())
            c.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            for statement in _MAKE:
                c.execute(sa.text(statement))
        project = {"project": self._project}
        c.execute(sa.text(_KNOWN), project)
        if c.execute(sa.text(_ANOTHER), {**project, "embedder": embedder}).rowcount:
            c.execute(sa.text("DELETE FROM recall_vectors WHERE project = :project"), project)

    def missing(self, most: int) -> Sequence[tuple[int, str, str]]:
        query = sa.text(
            "SELECT i.place, i.hash, CASE i.kind WHEN 'turn' THEN '' ELSE i.title END "
            "|| chr(10) || i.text FROM recall_items i "
            "LEFT JOIN recall_vectors v ON v.project = i.project AND v.place = i.place "
            "WHERE i.project = :project AND v.place IS NULL ORDER BY i.place DESC LIMIT :most"
        )
        given = {"project": self._project, "most": most}
        rows = self._store.read(lambda c: list(c.execute(query, given)))
        return [(place, text_hash, text) for place, text_hash, text in rows]

    def put(self, embedder: str, found: Mapping[tuple[int, str], Kept]) -> int:
        return self._store.write(lambda c: self._put(c, embedder, found))

    def _put(self, c: Connection, embedder: str, found: Mapping[tuple[int, str], Kept]) -> int:
        query = "SELECT embedder FROM recall_projects WHERE project = :project FOR UPDATE"
        if c.scalar(sa.text(query), {"project": self._project}) != embedder:
            return 0
        query = (
            "SELECT place, hash FROM recall_items WHERE project = :project AND place = ANY(:places)"
        )
        given = {"project": self._project, "places": [place for place, _ in found]}
        hashes: dict[int, str] = dict(c.execute(sa.text(query), given).all())
        good = {p: kept for (p, text_hash), kept in found.items() if hashes.get(p) == text_hash}
        return self.put_again(c, good)

    def put_again(self, c: Connection, found: Mapping[int, Kept]) -> int:
        """Store vectors in the caller's transaction, and return how many are new."""
        if not found:
            return 0
        from holdfast.memory.embed.vector import decode

        rows = [
            {"project": self._project, "place": place, "size": len(row), "vector": _written(row)}
            for place, row in zip(found, decode([one.parts for one in found.values()]), strict=True)
        ]
        query = sa.text(
            "INSERT INTO recall_vectors (project, place, size, vector) "
            "VALUES (:project, :place, :size, cast(:vector AS halfvec)) ON CONFLICT DO NOTHING"
        )
        new = c.execute(query, rows).rowcount
        grown = "UPDATE recall_projects SET vectors = vectors + :new WHERE project = :project"
        c.execute(sa.text(grown), {"new": new, "project": self._project})
        return new

    def drop(self, c: Connection, gone: Sequence[int]) -> int:
        if not gone or not self._there(c):
            return 0
        query = "DELETE FROM recall_vectors WHERE project = :project AND place = ANY(:places)"
        given = {"project": self._project, "places": list(gone)}
        return c.execute(sa.text(query), given).rowcount

    def of_hashes(self, c: Connection, gone: Sequence[int]) -> dict[str, Kept]:
        if not gone or not self._there(c):
            return {}
        import numpy as np

        from holdfast.memory.embed.vector import encode

        query = (
            "SELECT i.hash, v.vector::text FROM recall_items i JOIN recall_vectors v "
            "ON v.project = i.project AND v.place = i.place "
            "WHERE i.project = :project AND i.place = ANY(:places)"
        )
        given = {"project": self._project, "places": list(gone)}
        rows = c.execute(sa.text(query), given).all()
        if not rows:
            return {}
        whole = np.array([_read(text) for _, text in rows], np.float32)
        return dict(zip([text_hash for text_hash, _ in rows], encode(whole), strict=True))

    def near(self, c: Connection, query: Any, most: int) -> ScoreQuery | None:
        """Return the statement that finds the nearest items; None if there are no vectors."""
        if query is None or not self._there(c):
            return None
        size = len(query)
        part = f"(vector::halfvec({size})) <#> cast(:query AS halfvec({size}))"
        found = (
            f"SELECT place, -({part}) AS near FROM recall_vectors WHERE project = :project "
            f"AND size = {size} ORDER BY {part} LIMIT :near"
        )
        given = {"query": _written(self._centred(c, query)), "size": size, "near": most}
        return ScoreQuery(found, given)

    def _centred(self, c: Connection, query: Any) -> Any:
        """Subtract the mean of all vectors. It changes slowly, so it is computed only now and
        then."""
        import numpy as np

        if self._mean is None or time.monotonic() - self._meant > FRESH_SECONDS:
            asked = (
                "SELECT avg(vector)::text FROM (SELECT vector FROM recall_vectors "
                "WHERE project = :project AND size = :size LIMIT 20000) AS few"
            )
            text = c.scalar(sa.text(asked), {"project": self._project, "size": len(query)})
            self._mean = np.array(_read(text), np.float32) if text else None
            self._meant = time.monotonic()
        return query if self._mean is None or len(self._mean) != len(query) else query - self._mean


def _written(vector: Any) -> str:
    return "[" + ",".join(f"{part:.5g}" for part in vector.tolist()) + "]"


def _read(text: str) -> list[float]:
    return [float(part) for part in text.strip("[]").split(",")]
