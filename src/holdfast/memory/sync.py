"""Bring a project's index up to date: read sources that changed, remove those that are gone, make
missing vectors; report its status, and rebuild it.

Any number of processes may do this at once: a step is stored only if its source is still where the
reading began. So nothing is indexed twice, and a kill at any moment loses nothing.

Making vectors takes a second for 20 texts on one core, so it happens in the background, newest
first. Keyword search works at once. A rebuild carries over the vectors of texts that are still
there, because making one takes fifty times as long as indexing its text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.memory import locations
from holdfast.memory.errors import DamagedIndex, NewerIndex, OfIndex
from holdfast.memory.index import engines, sqlite_file
from holdfast.memory.index.interface import Index
from holdfast.memory.sources import board, documents, sessions
from holdfast.memory.sources.source import MemorySource, join_state, split_state
from holdfast.wire import log, places

if TYPE_CHECKING:
    from holdfast.memory.embed.embedders import Embedder

SOURCES = (
    documents.memory_sources,
    sessions.decision_sources,
    documents.checkpoint_sources,
    documents.segment_sources,
    board.message_sources,
    sessions.transcript_sources,
)
MOST_STEPS = 10_000
SYNC_SECONDS = 5.0  # before a search
TOGETHER = 16  # texts that get a vector in one batch


class IndexSync(NamedTuple):
    """How many sources were read, how many items they had, and how many items were removed."""

    project: str = ""
    read: int = 0
    items: int = 0
    forgotten: int = 0
    left: int = 0  # sources left for the next time
    notes: tuple[str, ...] = ()


def sync_project(project: str = "", *, seconds: float = 0.0) -> IndexSync:
    """Index everything, or as much as `seconds` allow. The remaining sources are counted."""
    return sync_index(engines.open_index(locations.resolve(project)), seconds=seconds)


def sync_index(index: Index, *, seconds: float = 0.0) -> IndexSync:
    give_up = time.monotonic() + seconds if seconds else float("inf")
    stands = index.states()
    listed = {one.key: one for one in sources(index.project)}
    forgotten = sum(index.forget(key) for key in stands.keys() - listed.keys())
    done = IndexSync(index.project, forgotten=forgotten)
    for key, source in listed.items():
        if split_state(stands.get(key, ""))[0] == source.stamp:
            continue
        if time.monotonic() > give_up:
            done = done._replace(left=done.left + 1)
            continue
        done = _source(index, source, stands.get(key, ""), done, give_up)
    return done


def is_empty(project: str) -> bool:
    """Return whether a project has neither an index nor anything to put into one."""
    if engines.is_shared() or places.modified_ms(locations.index_file(project)):
        return False
    return next(sources(project), None) is None


def sources(project: str) -> Iterator[MemorySource]:
    for list_sources in SOURCES:
        yield from list_sources(project)


def _source(
    index: Index, source: MemorySource, since: str, done: IndexSync, give_up: float
) -> IndexSync:
    """Read a source to its end, or until time is up. The stamp is stored only at the end."""
    for _ in range(MOST_STEPS):
        try:
            read = source.read(split_state(since)[1], give_up)
        except OSError as error:  # one that cannot be read must not stop the others
            log.add("WARN", "recall", f"{source.key} was not read: {error}")
            return done._replace(left=done.left + 1)
        until = join_state(source.stamp if read.done else "", read.state)
        if not index.take(source.key, since, until, read.items, read.span):
            return done  # another process is indexing it
        done = done._replace(items=done.items + len(read.items))
        if read.done:
            return done._replace(read=done.read + 1)
        if time.monotonic() > give_up:
            return done._replace(left=done.left + 1)
        since = until
    return done


class Filled(NamedTuple):
    done: int = 0
    left: int = 0


def fill_vectors(
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
        report(done, _count_missing(index))
    return Filled(done, _count_missing(index))


def lacks_vectors(index: Index) -> bool:
    """Return whether vectors are missing; if not, no model need be loaded."""
    return _count_missing(index) > 0


def _count_missing(index: Index) -> int:
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


def index_status(project: str = "") -> IndexStatus:
    """Bring a project's index up to date and return its status."""
    project = locations.resolve(project)
    if is_empty(project):
        return IndexStatus(project, 0, {}, 0, "", 0)
    index = engines.open_index(project)
    done = sync_index(index)
    counts = index.counts()
    return IndexStatus(
        index.project, counts.items, index.kinds(), counts.vectors, counts.embedder, done.left
    )


def rebuild(projects: Iterable[str] = ()) -> list[IndexSync]:
    """Rebuild the indexes of these and all known projects; return the items of each."""
    given = {locations.resolve(one) for one in projects}
    known = given | sessions.known_projects() | indexed_projects()
    return [_rebuild_index(project) for project in sorted(known) if _has_something(project)]


def unindexed_projects() -> list[str]:
    """List the known projects that have something to search in, and no index on this machine."""
    return [
        project
        for project in sorted(sessions.known_projects())
        if not locations.stamp(locations.index_file(project)) and any(sources(project))
    ]


def indexed_projects() -> set[str]:
    """The projects that have a readable index on this machine."""
    found = set()
    for path in locations.index_files():
        try:
            found.add(sqlite_file.project_of(path))
        except OfIndex:
            continue  # unreadable: left alone
    return found


def _has_something(project: str) -> bool:
    """Return whether a project has sources or an index; others get no index."""

    return bool(locations.stamp(locations.index_file(project))) or any(
        True for _ in sources(project)
    )


def _rebuild_index(project: str) -> IndexSync:
    note: tuple[str, ...] = ()
    try:
        index = engines.open_index(project)
        index.begin_again()
    except (DamagedIndex, NewerIndex) as error:
        aside = engines.set_aside(project)
        note = (f"{error}; saved as {aside}",)
        index = engines.open_index(project)
    return sync_index(index)._replace(items=index.counts().items, notes=note)
