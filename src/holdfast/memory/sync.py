"""Bring a project's index up to date: read sources that changed, remove those that are gone, make
missing vectors; rebuild it. `Filler` does so in a long-lived process.

Any number of processes may do this at once: a step is stored only if its source is still where the
reading began. So nothing is indexed twice, and a kill at any moment loses nothing.

Keyword search works at once. Vectors take a second for 20 texts on one core: the MCP server, the
HTTP server and the search itself make them, newest first.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from holdfast.files import lock
from holdfast.memory import documents, embedders, engines, locations, session_sources, sqlite_index
from holdfast.memory.embedders import Embedder, NoEmbedder
from holdfast.memory.index import DamagedIndex, Index, NewerIndex, UnusableIndex
from holdfast.memory.item import MemorySource, pieces_of
from holdfast.wire import log, places
from holdfast.wire.errors import describe

SOURCES = (
    documents.memory_sources,
    session_sources.decision_sources,
    documents.checkpoint_sources,
    documents.segment_sources,
    documents.message_sources,
    session_sources.transcript_sources,
)
MOST_STEPS = 10_000
SYNC_SECONDS = 5.0  # before a search
TOGETHER = 16  # entries that are asked for at once
LOOK_SECONDS = 15.0
FIRST_VECTORS_SECONDS = 60.0  # of a server: until then, its model compares past summaries
VECTORS_SECONDS = 300.0  # vectors are made later, so that the model need not stay in memory
STEP_SECONDS = 0.5
READ_SECONDS = 2.0  # on a busy machine half a second may end before the first entry
PATIENCE_SECONDS = 10.0  # a request that hangs does not stop this work
NICE = 5
LOCK = "fill.lock"
Report = Callable[[int, int], None]  # what is done, and what is left


def report_nothing(_done: int, _left: int) -> None:
    pass


class IndexSync(NamedTuple):
    """How many sources were read, how many entries they had, and how many were removed."""

    project: str = ""
    read: int = 0
    items: int = 0
    forgotten: int = 0
    left: int = 0  # sources left for the next time
    notes: tuple[str, ...] = ()


def sync_project(project: str = "", *, seconds: float = 0.0) -> IndexSync:
    """Index everything, or as much as `seconds` allow. The remaining sources are counted."""
    return sync_index(engines.open_index(locations.resolve(project)), seconds=seconds)


def sync_index(index: Index, *, seconds: float = 0.0, report: Report = report_nothing) -> IndexSync:
    give_up = time.monotonic() + seconds if seconds else float("inf")
    known = index.states()
    listed = {one.key: one for one in sources(index.project)}
    forgotten = sum(index.forget(key) for key in known.keys() - listed.keys())
    read_to_end = {key: state.partition("\n")[0] for key, state in known.items()}
    changed = [one for one in listed.values() if read_to_end.get(one.key) != one.stamp]
    done = IndexSync(index.project, forgotten=forgotten)
    for number, source in enumerate(changed):
        if time.monotonic() > give_up:
            return done._replace(left=done.left + len(changed) - number)
        report(number, len(changed) - number)
        done = _read_source(index, source, known.get(source.key, ""), done, give_up)
    return done


def is_empty(project: str) -> bool:
    """Return whether a project has neither an index nor anything to put into one."""
    if engines.is_shared() or places.modified_ms(locations.index_file(project)):
        return False
    return next(sources(project), None) is None


def sources(project: str) -> Iterator[MemorySource]:
    for list_sources in SOURCES:
        yield from list_sources(project)


def _read_source(
    index: Index, source: MemorySource, since: str, done: IndexSync, give_up: float
) -> IndexSync:
    """Read a source to its end, or until time is up. The stamp is stored only at the end."""
    for _ in range(MOST_STEPS):
        try:
            read = source.read(since.partition("\n")[2], give_up)
        except OSError as error:  # one that cannot be read must not stop the others
            log.add("WARN", "recall", f"{source.key} was not read: {error}")
            return done._replace(left=done.left + 1)
        until = f"{source.stamp if read.done else ''}\n{read.state}"
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
    index: Index, embedder: Embedder, *, seconds: float = 0.0, report: Report = report_nothing
) -> Filled:
    """Make vectors until none is missing or time is up; those of an entry are saved at once."""
    from holdfast.memory import vector

    give_up = time.monotonic() + seconds if seconds else float("inf")
    index.begin_vectors(embedder.name)
    done = 0
    while missing := index.without_vector(TOGETHER):
        before = done
        for place, item in missing.items():
            if time.monotonic() > give_up:
                return Filled(done, index.counts().missing)
            made = vector.encode(embedder.embed(pieces_of(item)))
            done += index.put_vectors(embedder.name, place, item.hash, made)
        report(done, index.counts().missing)
        if done == before:
            break  # another embedder is in use, or the texts changed: try next time
    return Filled(done, index.counts().missing)


def rebuild(projects: Iterable[str] = ()) -> list[IndexSync]:
    """Rebuild the indexes of these and all known projects; return the entries of each."""
    given = {locations.resolve(one) for one in projects}
    known = given | session_sources.known_projects() | indexed_projects()
    return [_rebuild_index(project) for project in sorted(known) if not is_empty(project)]


def indexed_projects() -> set[str]:
    found = set()
    for path in locations.index_files():
        try:
            found.add(sqlite_index.project_of(path))
        except UnusableIndex:
            continue  # unreadable: left alone
    return found


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


class Filler:
    """Bring indexes up to date and make vectors, in the background of a long-lived process.

    `projects` is called in every round, because new ones appear while a server runs. The work runs
    on a thread of its own, at a lower priority and for at most half of the time. One such thread
    runs per machine: a process that does not get the lock leaves the work to the one that has it.
    Between two steps it waits until `idle` is set: until no request is being answered. Nobody has
    to wait for its end, because each batch is saved as soon as it is made.
    """

    def __init__(
        self,
        projects: Callable[[], Iterable[str]],
        *,
        idle: threading.Event | None = None,
        wait_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._projects = projects
        self._wait_seconds = wait_seconds  # before the first look
        self._idle = idle
        self._over = threading.Event()
        self._logged = set[str]()
        self._vectors_at = 0.0
        self._thread = threading.Thread(target=self._run, name="holdfast-fill", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Stop, and wait at most `seconds` for the current step."""
        self._over.set()
        if seconds and self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        if sys.platform == "linux":  # no other system can do this for a single thread
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        seconds = self._wait_seconds
        is_server = seconds < LOOK_SECONDS
        self._vectors_at = time.monotonic() + (FIRST_VECTORS_SECONDS if is_server else seconds)
        while not self._over.wait(seconds):
            seconds = LOOK_SECONDS
            with suppress(OSError), lock.hold_file(f"{locations.root()}/{LOCK}", 0) as is_ours:
                if is_ours:
                    self.look()

    def look(self) -> None:
        """Words first, of every project: vectors of the first one took minutes, and until they were
        made nothing was found in the others."""
        makes_vectors = time.monotonic() >= self._vectors_at
        for step in (self._read_new, self._make_vectors)[: 1 + makes_vectors]:
            for project in self._projects():
                try:
                    step(engines.open_index(locations.resolve(project)))
                # one project that cannot be indexed must not stop the others
                except Exception as error:
                    words = f"{project}: {describe(error)}"
                    if words not in self._logged:
                        log.add("WARN", "recall", words)
                    self._logged.add(words)
        if makes_vectors:
            self._vectors_at = time.monotonic() + VECTORS_SECONDS

    def _read_new(self, index: Index) -> None:
        while self._may_go_on():
            done = sync_index(index, seconds=READ_SECONDS)
            if not (done.left and done.items):
                break

    def _make_vectors(self, index: Index) -> None:
        if not index.counts().missing:
            return
        with suppress(NoEmbedder):  # keyword search needs none, and every answer reports it
            embedder = embedders.current_embedder()
            while self._may_go_on():
                began = time.monotonic()
                filled = fill_vectors(index, embedder, seconds=STEP_SECONDS)
                if not (filled.done and filled.left):
                    break
                self._over.wait(time.monotonic() - began)

    def _may_go_on(self) -> bool:
        if self._idle is not None:
            self._idle.wait(PATIENCE_SECONDS)
        return not self._over.is_set()
