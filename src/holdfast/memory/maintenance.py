"""Keep an index complete: make missing vectors, report its status, rebuild it from its sources.

Making vectors takes a second for 20 texts on one core, so it happens in the background, newest
first. Keyword search works at once. A rebuild carries over the vectors of texts that are still
there, because making one takes fifty times as long as indexing its text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.memory import locations
from holdfast.memory import sync as syncing
from holdfast.memory.errors import DamagedIndex, NewerIndex, OfIndex
from holdfast.memory.index import engines, sqlite_file
from holdfast.memory.index.interface import Index
from holdfast.memory.sources import sessions
from holdfast.memory.sync import IndexSync, bring_up

if TYPE_CHECKING:
    from holdfast.memory.embed.embedders import Embedder

TOGETHER = 16


class Filled(NamedTuple):
    done: int = 0
    left: int = 0


def fill(
    index: Index,
    embedder: Embedder,
    *,
    seconds: float = 0.0,
    report: Callable[[int, int], None] = lambda done, left: None,
    is_over: Callable[[], bool] = lambda: False,
) -> Filled:
    """Make vectors until none is missing, time is up or `is_over`; each batch is saved at once."""
    from holdfast.memory.embed import vector

    give_up = time.monotonic() + seconds if seconds else float("inf")
    index.begin_vectors(embedder.name)
    done = 0
    while missing := index.without_vector(TOGETHER):
        if is_over() or time.monotonic() > give_up:
            break
        made = vector.encode(embedder.embed([text for _, _, text in missing]))
        keys = [(place, text_hash) for place, text_hash, _ in missing]
        taken = index.put_vectors(embedder.name, dict(zip(keys, made, strict=True)))
        if not taken:
            break  # another embedder is in use, or the texts changed: try next time
        done += taken
        report(done, _missing_vectors(index))
    return Filled(done, _missing_vectors(index))


def is_missing(index: Index) -> bool:
    """Return whether vectors are missing; if not, no model need be loaded."""
    return _missing_vectors(index) > 0


def _missing_vectors(index: Index) -> int:
    counts = index.counts()
    return max(0, counts.items - counts.vectors)


class IndexStatus(NamedTuple):
    project: str
    items: int
    kinds: dict[str, int]
    vectors: int
    embedder: str  # the embedder of the vectors
    left: int  # sources not indexed yet

    @property
    def missing(self) -> int:
        return max(0, self.items - self.vectors)

    def plain(self) -> dict[str, Any]:
        return {**self._asdict(), "missing_vectors": self.missing}


def index_status(project: str = "", *, seconds: float = 0.0) -> IndexStatus:
    """Return a project's index status, brought up to date as far as time allows."""
    index = engines.open_index(locations.resolved(project))
    done = syncing.bring_up(index, seconds=seconds)
    counts = index.counts()
    return IndexStatus(
        index.project, counts.items, index.kinds(), counts.vectors, counts.embedder, done.left
    )


def rebuild(projects: Iterable[str] = ()) -> list[IndexSync]:
    """Rebuild the indexes of these and all known projects; return the items of each."""
    known = {locations.resolved(one) for one in projects} | sessions.projects() | _indexed()
    return [_again(project) for project in sorted(known) if _has_something(project)]


def _indexed() -> set[str]:
    found = set()
    for path in locations.index_files():
        try:
            found.add(sqlite_file.project_of(path))
        except OfIndex:
            continue  # unreadable: left alone
    return found


def _has_something(project: str) -> bool:
    """Return whether a project has sources or an index; others get no index."""
    from holdfast.memory.sync import sources

    return bool(locations.stamp(locations.index_file(project))) or any(
        True for _ in sources(project)
    )


def _again(project: str) -> IndexSync:
    note: tuple[str, ...] = ()
    try:
        index = engines.open_index(project)
        index.begin_again()
    except (DamagedIndex, NewerIndex) as error:
        aside = engines.set_aside(project)
        note = (f"{error}; saved as {aside}",)
        index = engines.open_index(project)
    return bring_up(index)._replace(items=index.counts().items, notes=note)
