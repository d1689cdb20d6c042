"""An index: what both engines do in the same way, and what each must add.

A *place* is where an entry is: its source's number and its position there, in one integer. The
pieces of an entry have a vector each; a change of an entry drops them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from holdfast.memory.item import ALL, POSITIONS, Item, Span
from holdfast.memory.words import Query
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.memory.vector import Kept

COLUMNS = (
    "id, kind, author, cold, session, agent, file, first_turn, last_turn, uuids, at, byte, "
    "title, text, more"
)
Scores = dict[int, float]  # by place
T = TypeVar("T")


class UnusableIndex(HoldfastError):
    """An index cannot be used, for example for want of permissions; `path` says which."""

    exit_code = 5
    hint = "HOLDFAST_HOME names another folder; holdfast doctor looks at this one"

    def __init__(self, words: str, path: str = "") -> None:
        super().__init__(words)
        self.path = path


class DamagedIndex(UnusableIndex):
    """The index is not one of ours, or cannot be read any more."""

    exit_code = 4
    hint = "holdfast rebuild makes it again"


class IndexBusy(UnusableIndex):
    """Another process holds the index for longer than we wait."""

    hint = "try again; nothing was lost"


class IndexFull(UnusableIndex):
    """The disk is full or fails. SQLite needs room for its log also to read."""

    exit_code = 4
    hint = "free some space and search again; nothing was lost"


class NewerIndex(UnusableIndex):
    """A newer Holdfast wrote the index."""

    exit_code = 3
    hint = "update this Holdfast, or holdfast rebuild to make the index again with this one"


class NearPiece(NamedTuple):
    """The piece of an entry that is nearest to a query."""

    score: float
    piece: int


class SearchFilter(NamedTuple):
    """Which entries may be found."""

    kinds: tuple[str, ...] = ()  # none: all
    cold: bool = False


class Many(NamedTuple):
    """How many candidates keyword search and vector search may each return."""

    by_words: int
    by_meaning: int
    everywhere: bool = False  # all other indexes are searched too


class IndexCounts(NamedTuple):
    items: int = 0
    vectors: int = 0  # entries that have their vectors
    embedder: str = ""  # the embedder of the vectors

    @property
    def missing(self) -> int:
        return max(0, self.items - self.vectors)


class Statement(Protocol):
    """Run a statement with named values, and return its rows."""

    def __call__(self, query: str, /, **values: Any) -> list[Any]: ...


class Index(ABC):
    """The entries of one project. `mine` limits a statement to them; table names differ."""

    project: str
    path = ""
    mine, table, sources, collate = "", "items", "sources", "BINARY"

    @abstractmethod
    def ask(self, query: str, /, **values: Any) -> list[Any]: ...

    @abstractmethod
    def write(self, change: Callable[[Statement], T]) -> T:
        """Make a change in one transaction."""

    @abstractmethod
    def counts(self) -> IndexCounts: ...

    @abstractmethod
    def scores(
        self, query: Query, vectors: Mapping[str, Any], many: Many, wanted: SearchFilter
    ) -> tuple[Scores, dict[int, NearPiece]]:
        """Return the best matches by words, higher is better, and how near these and the nearest
        of all are by meaning.

        `vectors` are the query's, by embedder. Nothing is near without the vector of the index's
        own embedder, and no entry without a vector."""

    @abstractmethod
    def begin_vectors(self, embedder: str) -> None:
        """Use this embedder from now on; vectors of another one are dropped."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _source(self, ask: Statement, name: str) -> tuple[int, str]:
        """Lock a source; return its number and state."""

    @abstractmethod
    def _add(self, ask: Statement, added: Sequence[tuple[int, Item]]) -> None: ...

    @abstractmethod
    def _drop(self, ask: Statement, gone: Sequence[int]) -> None:
        """Remove entries with their vectors."""

    @abstractmethod
    def _embedder(self, ask: Statement) -> str:
        """Lock the embedder; return the one in use."""

    @abstractmethod
    def _put(self, ask: Statement, place: int, made: Sequence[Kept]) -> None: ...

    def states(self) -> dict[str, str]:
        """Return how far each source was read, by its key."""
        return dict(self.ask(f"SELECT name, state FROM {self.sources}"))

    def take(
        self, source: str, since: str, until: str, items: Sequence[Item], span: Span = ALL
    ) -> bool:
        """Replace the source's entries at the positions of `span`, in one transaction.

        Returns False and changes nothing if the source is no longer at state `since`, because
        another process was faster. Entries that did not change keep their vectors."""

        def change(ask: Statement) -> bool:
            number, state = self._source(ask, source)
            if state == since:
                base = number * POSITIONS
                self._replace(ask, base, (base + span[0], base + span[1]), items)
                query = f"UPDATE {self.sources} SET state = :state WHERE number = :number"
                ask(query, state=until, number=number)
            return state == since

        return self.write(change)

    def _replace(self, ask: Statement, base: int, span: Span, items: Sequence[Item]) -> None:
        query = (
            f"SELECT place, id, hash, cold, file FROM {self.table} "
            f"WHERE {self.mine} place >= :low AND place < :high"
        )
        there = {row[0]: tuple(row[1:]) for row in ask(query, low=span[0], high=span[1])}
        once = {item.id: item for item in items}.values()
        new = {base + item.position: item for item in once}
        stays = {
            place
            for place, item in new.items()
            if there.get(place) == (item.id, item.hash, item.cold, item.file)
        }
        self._drop(ask, [place for place in there if place not in stays])
        self._add(ask, [(place, item) for place, item in new.items() if place not in stays])

    def begin_again(self) -> None:
        """Have every source read again. Entries that come again keep their vectors."""
        self.write(lambda ask: ask(f"UPDATE {self.sources} SET state = ''"))

    def forget(self, source: str) -> int:
        """Remove a source with its entries, and return how many there were."""

        def change(ask: Statement) -> int:
            number, _ = self._source(ask, source)
            query = (
                f"SELECT place FROM {self.table} WHERE {self.mine} place >= :low AND place < :high"
            )
            low = number * POSITIONS
            gone = [place for (place,) in ask(query, low=low, high=low + POSITIONS)]
            self._drop(ask, gone)
            ask(f"DELETE FROM {self.sources} WHERE number = :number", number=number)
            return len(gone)

        return self.write(change) if source in self.states() else 0

    def at(self, places: Iterable[int]) -> dict[int, Item]:
        if not (listed := listing(places)):
            return {}
        return self._items(f"place IN ({listed})")

    def _items(self, chosen: str, **values: Any) -> dict[int, Item]:
        query = f"SELECT place, {COLUMNS} FROM recall_items WHERE {self.mine} {chosen}"
        return {row[0]: self._item(row) for row in self.ask(query, **values)}

    def _item(self, row: Sequence[Any]) -> Item:
        place, item_id, kind, author, cold, session, agent, file, *rest = row
        first, last, uuids, at, byte, title, text, more = rest
        try:
            lines = tuple(json.loads(uuids))
        except (TypeError, ValueError) as error:  # the pages are intact, the content is not ours
            raise DamagedIndex(f"{self.path} is damaged: {error}", self.path) from error
        words = item_id, kind, text, place % POSITIONS, title, more, author
        return Item(*words, bool(cold), session, agent, file, first, last, lines, at, byte)

    def find(self, item_id: str) -> Item | None:
        return next(iter(self._items("id = :id", id=item_id).values()), None)

    def beginning(self, start: str, most: int) -> list[str]:
        """Return at most this many ids that begin with `start`, sorted."""
        named = f'id COLLATE "{self.collate}"'
        query = (
            f"SELECT id FROM {self.table} WHERE {self.mine} {named} >= :start AND {named} < :end "
            f"ORDER BY {named} LIMIT :most"
        )
        return [row[0] for row in self.ask(query, start=start, end=f"{start}\uffff", most=most)]

    def without_vector(self, most: int) -> dict[int, Item]:
        """Return entries without vectors by place, newest first."""
        return self._items("NOT embedded ORDER BY place DESC LIMIT :most", most=most)

    def put_vectors(self, embedder: str, place: int, text_hash: str, made: Sequence[Kept]) -> bool:
        """Store the vectors of an entry's pieces, unless it or the embedder has changed."""

        def change(ask: Statement) -> bool:
            query = f"SELECT 1 FROM {self.table} WHERE {self.mine} place = :p AND hash = :h"
            is_same = self._embedder(ask) == embedder and ask(query, p=place, h=text_hash)
            if is_same:
                self._put(ask, place, made)
                ask(
                    f"UPDATE {self.table} SET embedded = true WHERE {self.mine} place = :p", p=place
                )
            return bool(is_same)

        return self.write(change)


def listing(places: Iterable[int]) -> str:
    """Our own integers, thousands of them, as a list in a statement."""
    return ",".join(map(str, map(int, places)))


def best_of(rows: Iterable[tuple[int, int, float]]) -> dict[int, NearPiece]:
    """Return the nearest piece of each place, of rows of place, piece and score."""
    found: dict[int, NearPiece] = {}
    for place, piece, score in rows:
        if place not in found or score > found[place].score:
            found[place] = NearPiece(score, piece)
    return found
