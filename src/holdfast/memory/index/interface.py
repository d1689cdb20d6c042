"""What an index does, whichever engine keeps it.

A *place* is where an item stands: its source's number and its position there, in one integer, so
that the neighbours of a place are the numbers beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from holdfast.memory.item import Item
from holdfast.memory.words import Query

if TYPE_CHECKING:
    from holdfast.memory.embed.vector import Kept

POSITIONS = 1 << 32
TURN_POSITIONS = 1 << 12  # of a transcript: each turn begins at a multiple of it
Scores = dict[int, float]  # by place
Span = tuple[int, int]
ALL: Span = (0, POSITIONS)


class SearchFilter(NamedTuple):
    """Which items may be found."""

    kinds: tuple[str, ...] = ()  # none: all
    cold: bool = False


class Many(NamedTuple):
    """How many candidates each side may bring."""

    by_words: int
    by_meaning: int


class IndexCounts(NamedTuple):
    items: int = 0
    vectors: int = 0
    embedder: str = ""  # whose the vectors are


class Index(Protocol):
    project: str

    def states(self) -> dict[str, str]:
        """How far each source was taken in, by its key."""

    def take(
        self, source: str, since: str, until: str, items: Sequence[Item], span: Span = ALL
    ) -> bool:
        """In one transaction: what this source holds at the positions of `span` is `items`.

        False, and nothing is changed, where the source does not stand at `since`: somebody else was
        faster. Vectors of words that stay are kept.
        """

    def begin_again(self) -> None:
        """Every source is to be read anew; vectors of words that come again are kept."""

    def forget(self, source: str) -> int:
        """The source is gone: so is what it told; how many items that were."""

    def scores(
        self, query: Query, vectors: Mapping[str, object], many: Many, wanted: SearchFilter
    ) -> tuple[Scores, Scores]:
        """The best by words, higher for a better match; how near by meaning these are, and the
        nearest of all. `vectors` are the query's, by embedder: without the one the index was made
        with, and for what has no vector yet, nothing is near."""

    def newest(self, most: int, wanted: SearchFilter) -> list[int]:
        """So many places of what is wanted, by when it was said, newest first."""

    def at(self, places: Iterable[int]) -> dict[int, Item]: ...

    def in_turns(self, starts: Sequence[int]) -> list[tuple[int, str, str]]:
        """(place, kind, by) of all that stands in the turns that begin there, in order."""

    def last_words(self, starts: Sequence[int]) -> set[int]:
        """Where the model said its last words in each of the turns that begin there."""

    def find(self, item_id: str) -> Item | None: ...

    def beginning(self, start: str, most: int) -> list[str]:
        """So many of the ids that begin so, at most, in order."""

    def counts(self) -> IndexCounts: ...

    def kinds(self) -> dict[str, int]:
        """How many items there are of each kind."""

    def begin_vectors(self, embedder: str) -> None:
        """From now on vectors are of this embedder; those of another one are dropped."""

    def without_vector(self, most: int) -> Sequence[tuple[int, str, str]]:
        """(place, hash, words) of items to be embedded, newest first."""

    def put_vectors(self, embedder: str, found: Mapping[tuple[int, str], Kept]) -> int:
        """By place and hash: a text that changed meanwhile keeps none; how many were taken."""

    def close(self) -> None: ...


def sameness(item: Item) -> str:
    """The same where nothing of it changed that an index holds; as the engines say it in SQL."""
    return f"{item.id}{item.hash}{int(item.cold)}{item.file}"
