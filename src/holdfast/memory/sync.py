"""Bring a project's index up to date: read sources that changed, remove those that are gone.

Any number of processes may do this at once: a step is stored only if its source is still where the
reading began. So nothing is indexed twice, and a kill at any moment loses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.memory import locations
from holdfast.memory.index.interface import Index
from holdfast.memory.sources import board, checkpoints, decisions, memories, segments, sessions
from holdfast.memory.sources.source import MemorySource, join_state, split_state
from holdfast.wire import log

ALL = (memories, decisions, checkpoints, segments, board, sessions)
MOST_STEPS = 10_000
SYNC_SECONDS = 5.0  # before a search


class IndexSync(NamedTuple):
    """How many sources were read, how many items they had, and how many items were removed."""

    project: str = ""
    read: int = 0
    items: int = 0
    forgotten: int = 0
    left: int = 0  # sources left for the next time
    notes: tuple[str, ...] = ()


def sync(project: str = "", *, seconds: float = 0.0) -> IndexSync:
    """Index everything, or as much as `seconds` allow. The remaining sources are counted."""
    from holdfast.memory.index import engines

    return bring_up(engines.open_index(locations.resolved(project)), seconds=seconds)


def bring_up(index: Index, *, seconds: float = 0.0) -> IndexSync:
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


def sources(project: str) -> Iterator[MemorySource]:
    for module in ALL:
        yield from module.sources(project)


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
