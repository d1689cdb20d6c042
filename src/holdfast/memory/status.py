"""How far an index is: what it holds, and how many vectors are to be made."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.memory import locations
from holdfast.memory import sync as syncing
from holdfast.memory.index import engines


class Standing(NamedTuple):
    project: str
    items: int
    kinds: dict[str, int]
    vectors: int
    embedder: str  # whose vectors they are
    left: int  # sources not taken in yet

    @property
    def missing(self) -> int:
        return max(0, self.items - self.vectors)

    def plain(self) -> dict[str, Any]:
        return {**self._asdict(), "missing_vectors": self.missing}


def standing(project: str = "", *, seconds: float = 0.0) -> Standing:
    """Of a project, brought up to date as far as there is time."""
    index = engines.opened(locations.resolved(project))
    done = syncing.bring_up(index, seconds=seconds)
    counts = index.counts()
    return Standing(
        index.project, counts.items, index.kinds(), counts.vectors, counts.embedder, done.left
    )
