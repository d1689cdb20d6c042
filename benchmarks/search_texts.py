"""What is searched: texts of words as frequent as words are (Zipf), vectors of random clusters.

Embedding a million texts takes half a day.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.memory import vector
from holdfast.memory.index import COLUMNS, Index
from holdfast.memory.item import TURN, Item
from holdfast.memory.postgres_index import NEAR, Shared

SIZE, CLUSTERS = 384, 200
VOCABULARY, ZIPF = 60_000, 1.07
STOP = 150  # of the most frequent words: as many as a list of stop words has
THREAD = 1_000
MODEL = "made up"
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu"


class Texts:
    """Sentences of made-up words, drawn as often as words are."""

    def __init__(self, seed: int = 7) -> None:
        self._dice = np.random.default_rng(seed)
        letters = random.Random(seed)
        syllables = _SYLLABLES.split()
        made = {"".join(letters.choices(syllables, k=letters.randint(2, 4))) for _ in range(99_000)}
        self._words = sorted(made)[:VOCABULARY]
        letters.shuffle(self._words)
        weights = 1 / np.arange(1, len(self._words) + 1) ** ZIPF
        self._edges = np.cumsum(weights / weights.sum())
        self._centres = vector.unit(self._dice.normal(size=(CLUSTERS, SIZE)))

    def text(self, count: int) -> str:
        at = np.searchsorted(self._edges, self._dice.random(count))
        return " ".join(self._words[min(int(n), len(self._words) - 1)] for n in at)

    def question(self) -> str:
        """As people ask: the words that stand in every text do not count."""
        at = np.searchsorted(self._edges, self._dice.uniform(self._edges[STOP], 1, 6))
        return " ".join(self._words[min(int(n), len(self._words) - 1)] for n in at)

    def some(self, count: int) -> list[str]:
        return [self.text(int(n)) for n in self._dice.integers(8, 50, count)]

    def vectors(self, count: int) -> vector.Array:
        chosen = self._centres[self._dice.integers(0, CLUSTERS, count)]
        return vector.unit(chosen + self._dice.normal(scale=0.04, size=(count, SIZE)))


def filled(index: Index, texts: Texts, count: int) -> tuple[float, float]:
    """Threads of a thousand items, and a vector for each; items and vectors a second."""
    spent = [0.0, 0.0]
    for first in range(0, count, THREAD):
        some = texts.some(min(THREAD, count - first))
        items = [
            Item(id=f"turn-{first + n}", kind=TURN, text=text, position=n, first_turn=n + 1)
            for n, text in enumerate(some)
        ]
        began = time.perf_counter()
        index.take(f"t{first}", "", "taken", items)
        spent[0] += time.perf_counter() - began
    index.begin_vectors(MODEL)
    if isinstance(index, Shared):  # one by one takes long: so much never comes at once
        index.store.write(lambda c: c.exec_driver_sql("DROP INDEX IF EXISTS recall_vectors_near"))
    for _ in range(0, count, THREAD):
        missing = index.without_vector(THREAD)
        made = vector.encode(texts.vectors(len(missing)))
        began = time.perf_counter()
        for (place, one), kept in zip(missing.items(), made, strict=True):
            index.put_vectors(MODEL, place, one.hash, [kept])
        spent[1] += time.perf_counter() - began
    return count / spent[0], count / spent[1]


def copied(index: Index, to: Index, turn: int) -> None:
    """Give another project of the same database the same items, with their vectors turned by so
    many numbers: to fill it as the first is filled takes a quarter of an hour."""
    if not (isinstance(index, Shared) and isinstance(to, Shared)):
        raise TypeError("only what PostgreSQL holds is copied")
    given = {"source": index.project, "to": to.project, "turn": turn, "rest": SIZE - turn}

    def copy(connection: Connection) -> None:
        for statement in _COPY:
            connection.execute(sa.text(statement), given)

    index.store.write(copy)


_ITEM = f"place, hash, {COLUMNS}, length, words, embedded"
_TURNED = (
    "CAST(subvector(CAST(vector AS halfvec(384)), CAST(:turn AS int) + 1, CAST(:rest AS int)) "
    "|| subvector(CAST(vector AS halfvec(384)), 1, CAST(:turn AS int)) AS halfvec)"
)
_COPY = (
    f"""INSERT INTO recall_items (project, {_ITEM}) SELECT :to, {_ITEM} FROM recall_items
        WHERE project = :source""",
    f"""INSERT INTO recall_vectors (project, place, piece, size, vector)
        SELECT :to, place, piece, size, {_TURNED} FROM recall_vectors WHERE project = :source""",
    """INSERT INTO recall_projects (project, items, words, vectors, embedder)
        SELECT :to, items, words, vectors, embedder FROM recall_projects WHERE project = :source""",
)


def settle(indexes: Sequence[Index]) -> None:
    """What PostgreSQL does by itself within a minute: count how frequent words are."""
    for index in indexes[:1]:
        if isinstance(index, Shared):
            index.store.write(_indexed)


def _indexed(connection: Connection) -> None:
    connection.exec_driver_sql("SET LOCAL maintenance_work_mem = '512MB'")
    connection.exec_driver_sql(NEAR)
    connection.exec_driver_sql("ANALYZE recall_items, recall_vectors")
