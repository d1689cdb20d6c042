"""Vectors for what has none yet: 20 texts a second on one core, so in the background, bit by bit.

The index is complete by keyword at once; whoever is warm fills in the rest, newest first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.memory.index.interface import Index

if TYPE_CHECKING:
    from holdfast.memory.embed.embedder import Embedder

TOGETHER = 16


class Filled(NamedTuple):
    done: int = 0
    left: int = 0


def fill(
    index: Index,
    embedder: Embedder,
    *,
    seconds: float = 0.0,
    told: Callable[[int, int], None] = lambda done, left: None,
    is_over: Callable[[], bool] = lambda: False,
) -> Filled:
    """Until all have one, or time is up, or it is over; each batch is kept as it is made."""
    from holdfast.memory.embed import vector

    give_up = time.monotonic() + seconds if seconds else float("inf")
    index.begin_vectors(embedder.name)
    done = 0
    while missing := index.without_vector(TOGETHER):
        if is_over() or time.monotonic() > give_up:
            break
        made = vector.kept(embedder.embed([text for _, _, text in missing]))
        keys = [(place, told_hash) for place, told_hash, _ in missing]
        taken = index.put_vectors(embedder.name, dict(zip(keys, made, strict=True)))
        if not taken:
            break  # another embedder has taken over, or the texts changed: the next time
        done += taken
        told(done, _left(index))
    return Filled(done, _left(index))


def is_missing(index: Index) -> bool:
    """Whether there is anything to do: whoever finds nothing need not load a model."""
    return _left(index) > 0


def _left(index: Index) -> int:
    counts = index.counts()
    return max(0, counts.items - counts.vectors)
