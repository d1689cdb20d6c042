"""Vectors in SQLite, searched with NumPy: first by signs, then by all components of the best.

Signs (48 bytes each) stay in memory; they are loaded once, then only new ones. The components of
the best are read from the file. A vector that was dropped meanwhile may be found by its signs, and
is then left out.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.memory.index.interface import Scores

if TYPE_CHECKING:
    import numpy as np

    from holdfast.memory.embed.vector import Kept
    from holdfast.memory.index.sqlite_index import Embedded

AT_ONCE = 500
SIGNS_FOR_ONE = 3  # this many times the wanted number is compared in full
STALE = 0.1  # share of dropped vectors from which the signs are loaded again


class SqliteVectors:
    def __init__(self, index: Embedded) -> None:
        # weak: otherwise neither object would ever be closed
        self._index: Embedded = weakref.proxy(index)
        self._reached = 0
        self._loaded: object = None  # the index's version at that time
        self._places: np.ndarray[Any, Any] | None = None
        self._signs: np.ndarray[Any, Any] | None = None

    def begin(self, embedder: str) -> None:
        with self._index.writing() as connection:
            if self._index.about("embedder") == embedder:
                return
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM about WHERE name = 'sum'")
            connection.execute("INSERT OR REPLACE INTO about VALUES ('embedder', ?)", (embedder,))
        self._places = self._signs = None
        self._reached = 0
        self._loaded = None

    def missing(self, most: int) -> Sequence[tuple[int, str, str]]:
        # The request of its turn is not embedded with a fragment: the user's words have their own
        # vector.
        query = (
            "SELECT i.place, i.hash, iif(kind = 'turn', '', title) || char(10) || text "
            "FROM items i JOIN words w ON w.rowid = i.place "
            "LEFT JOIN vectors v ON v.place = i.place "
            "WHERE v.place IS NULL ORDER BY i.place DESC LIMIT ?"
        )
        return self._index.ask(query, (most,))

    def put(self, embedder: str, found: Mapping[tuple[int, str], Kept]) -> int:
        with self._index.writing() as connection:
            if self._index.about("embedder") != embedder:
                return 0  # another embedder is in use now
            hashes = {
                place: self._index.ask("SELECT hash FROM items WHERE place = ?", (place,))
                for place, _ in found
            }
            good = {
                p: kept for (p, text_hash), kept in found.items() if hashes[p] == [(text_hash,)]
            }
            self.put_again(good)
            del connection
        return len(good)

    def put_again(self, found: Mapping[int, Kept]) -> None:
        """Store these vectors again, in the caller's transaction."""
        if not found:
            return
        rows = self._index.ask("SELECT value FROM about WHERE name = 'last vector'")
        last = int(rows[0][0]) if rows else 0  # never reused: other processes ask for higher ones
        self._index.connection.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
            [(p, last + n, kept.bits, kept.parts) for n, (p, kept) in enumerate(found.items(), 1)],
        )
        about = ("last vector", last + len(found))
        self._index.connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", about)
        self._sum(found.values(), 1)

    def drop(self, gone: Sequence[int]) -> None:
        """Drop the vectors of these places, in the caller's transaction."""
        if not gone or not self._any():
            return
        self._sum(self._of(gone).values(), -1)
        one = [(place,) for place in gone]
        self._index.connection.executemany("DELETE FROM vectors WHERE place = ?", one)

    def of_hashes(self, gone: Sequence[int]) -> dict[str, Kept]:
        """Return the vectors of these places, by the hash of their words."""
        if not self._any():
            return {}
        kept = self._of(gone)
        found: dict[str, Kept] = {}
        for some in _pieces(list(kept)):
            query = f"SELECT place, hash FROM items WHERE place IN ({','.join('?' * len(some))})"
            found |= {text_hash: kept[place] for place, text_hash in self._index.ask(query, some)}
        return found

    def _any(self) -> bool:
        return bool(self._index.ask("SELECT 1 FROM vectors LIMIT 1"))

    def _of(self, places: Sequence[int]) -> dict[int, Kept]:
        from holdfast.memory.embed.vector import Kept

        found: dict[int, Kept] = {}
        for some in _pieces(places):
            marks = ",".join("?" * len(some))
            query = f"SELECT place, bits, parts FROM vectors WHERE place IN ({marks})"
            found |= {
                place: Kept(bits, parts) for place, bits, parts in self._index.ask(query, some)
            }
        return found

    def _sum(self, kept: Any, sign: int) -> None:
        """Return the sum of all vectors: their mean is subtracted from a query."""
        from holdfast.memory.embed import vector

        rows = self._index.ask("SELECT value FROM about WHERE name = 'sum'")
        data = vector.add_to_sum(rows[0][0] if rows else b"", list(kept), sign)
        if data:
            self._index.connection.execute(
                "INSERT OR REPLACE INTO about VALUES ('sum', ?)", (data,)
            )

    def nearest(self, query: Any, most: int) -> Scores:
        from holdfast.memory.embed import vector

        self._load()
        if self._places is None or self._signs is None or not len(self._places):
            return {}
        best = vector.fewest_differences(self._signs, query, most * SIGNS_FOR_ONE)
        near = self.nearness(query, self._places[best].tolist())
        return dict(sorted(near.items(), key=lambda pair: -pair[1])[:most])

    def nearness(self, query: Any, places: Sequence[int]) -> Scores:
        """Return similarities to the query less the mean of all vectors: a text close to everything
        counts less."""
        from holdfast.memory.embed import vector

        listed = ",".join(map(str, places))  # the values are our own integers, thousands of them
        found = self._index.ask(f"SELECT place, parts FROM vectors WHERE place IN ({listed})")
        if not found:
            return {}
        rows = self._index.ask("SELECT value FROM about WHERE name = 'sum'")
        near = vector.nearness(query, rows[0][0] if rows else b"", [one[1] for one in found])
        return {one[0]: score for one, score in zip(found, near, strict=True)}

    def _load(self) -> None:
        """Load the signs of new vectors; all of them if many were dropped."""
        version = self._index.version()
        if version != self._loaded:  # counting vectors takes longer than comparing them
            self._load_new()
            self._loaded = version

    def _load_new(self) -> None:
        import numpy as np

        count, last = self._index.ask("SELECT count(*), coalesce(max(number), 0) FROM vectors")[0]
        held = 0 if self._places is None else len(self._places)
        if last < self._reached or held > count * (1 + STALE) + AT_ONCE:
            self._reached, self._places, self._signs = 0, None, None
        if last == self._reached:
            return
        query = "SELECT number, place, bits FROM vectors WHERE number > ? ORDER BY number"
        rows = self._index.ask(query, (self._reached,))
        places = np.fromiter((row[1] for row in rows), np.int64, len(rows))
        signs = np.frombuffer(b"".join(row[2] for row in rows), np.uint64).reshape(len(rows), -1).T
        if self._places is not None and self._signs is not None:
            places = np.concatenate([self._places, places])
            signs = np.concatenate([self._signs, signs], axis=1)
        self._signs = np.ascontiguousarray(signs)
        self._places, self._reached = places, rows[-1][0]


def _pieces(places: Sequence[int]) -> list[Sequence[int]]:
    return [places[at : at + AT_ONCE] for at in range(0, len(places), AT_ONCE)]
