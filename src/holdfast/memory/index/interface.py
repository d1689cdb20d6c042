"""The interface of an index, the same for both engines.

A *place* is where an item is: its source's number and its position there, in one integer, so that
the neighbours of a place are the integers next to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from holdfast.memory.item import Item
from holdfast.memory.words import Query

if TYPE_CHECKING:
    from holdfast.memory.embed.vector import Kept

POSITIONS = 1 << 32
TURN_POSITIONS = 1 << 12  # in a transcript, each turn begins at a multiple of it
Scores = dict[int, float]  # by place
Span = tuple[int, int]
ALL: Span = (0, POSITIONS)


class SearchFilter(NamedTuple):
    """Which items may be found."""

    kinds: tuple[str, ...] = ()  # none: all
    cold: bool = False


class Many(NamedTuple):
    """How many candidates keyword search and vector search may each return."""

    by_words: int
    by_meaning: int
    everywhere: bool = False  # all other indexes are searched too


class IndexCounts(NamedTuple):
    items: int = 0
    vectors: int = 0
    embedder: str = ""  # the embedder of the vectors


class Index(Protocol):
    project: str

    def states(self) -> dict[str, str]:
        """Return how far each source was read, by its key."""

    def take(
        self, source: str, since: str, until: str, items: Sequence[Item], span: Span = ALL
    ) -> bool:
        """Replace the source's items at the positions of `span`, in one transaction.

        Returns False and changes nothing if the source is no longer at state `since`, because
        another process was faster. Vectors of unchanged words are kept.
        """

    def begin_again(self) -> None:
        """Have every source read again. Vectors of words that come again are kept."""

    def forget(self, source: str) -> int:
        """Remove a source with its items, and return how many there were."""

    def scores(
        self, query: Query, vectors: Mapping[str, object], many: Many, wanted: SearchFilter
    ) -> tuple[Scores, Scores]:
        """Return scores by words and by meaning.

        By words: the best matches, higher is better. By meaning: these and the nearest of all.
        `vectors` are the query's, by embedder. There are no scores by meaning without the vector of
        the index's own embedder, or for items without a vector.
        """

    def newest(self, most: int, wanted: SearchFilter) -> list[int]:
        """Return the places of the newest items that match, newest first."""

    def at(self, places: Iterable[int]) -> dict[int, Item]: ...

    def in_turns(self, starts: Sequence[int]) -> list[tuple[int, str, str]]:
        """Return (place, kind, by) of every item in the turns that begin at these places, in
        order."""

    def last_words(self, starts: Sequence[int]) -> set[int]:
        """Return the places of the model's last words in the turns that begin at these places."""

    def find(self, item_id: str) -> Item | None: ...

    def beginning(self, start: str, most: int) -> list[str]:
        """Return at most this many ids that begin with `start`, sorted."""

    def counts(self) -> IndexCounts: ...

    def kinds(self) -> dict[str, int]:
        """Count the items of each kind."""

    def begin_vectors(self, embedder: str) -> None:
        """Use this embedder from now on; vectors of another one are dropped."""

    def without_vector(self, most: int) -> Sequence[tuple[int, str, str]]:
        """Return (place, hash, words) of items without a vector, newest first."""

    def put_vectors(self, embedder: str, found: Mapping[tuple[int, str], Kept]) -> int:
        """Store vectors by place and hash, and return how many were stored. An item that has
        changed meanwhile gets none."""

    def close(self) -> None: ...


def sameness(item: Item) -> str:
    """Return a value that changes with anything the index stores of an item. The engines compute
    the same in SQL."""
    return f"{item.id}{item.hash}{int(item.cold)}{item.file}"
