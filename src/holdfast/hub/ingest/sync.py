"""Bring the store up to what hooks and transcripts tell: gather and take, until nothing is new.

Any number of processes may do it at once: each batch is taken by one of them, and the others go on
from where it ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial

import sqlalchemy as sa

from holdfast.hub.ingest import gather
from holdfast.hub.ingest.records import Position
from holdfast.hub.ingest.take_batch import Behind, TakenIn, take
from holdfast.hub.projection import refresh
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import positions
from holdfast.wire import log

MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class IngestResult:
    batches: int = 0
    requests: int = 0
    tasks: int = 0
    subtasks: int = 0
    actions: int = 0
    checkpoints: int = 0

    def and_also(self, taken: TakenIn) -> IngestResult:
        more = {name: getattr(self, name) + n for name, n in asdict(taken).items()}
        return IngestResult(self.batches + 1, **more)


def sync(store: Store, sources: Iterable[str] | None = None, *, tell: bool = True) -> IngestResult:
    """Everything new of these sources, or of all on this machine."""
    known = positions_of(store)
    done = IngestResult()
    for source in gather.sources() if sources is None else sources:
        done = _source(store, source, known.get(source, {}), done, tell)
    refresh.refresh(store)
    return done


def positions_of(store: Store) -> dict[str, Position]:
    query = sa.select(positions.c.source, positions.c.position)
    return store.read(lambda c: {name: found or {} for name, found in c.execute(query)})


def _source(
    store: Store, source: str, position: Position, done: IngestResult, tell: bool
) -> IngestResult:
    for _ in range(MOST_STEPS):
        try:
            batch = gather.gather(source, position)
        except OSError as slip:  # one window that cannot be read holds up no other
            log.add("ERROR", "sync", f"{source} was not read: {slip}")
            return done
        if batch is None:
            return done
        try:
            done = done.and_also(store.write(partial(take, batch=batch, tell=tell)))
            position = batch.until
        except Behind as slip:
            position = slip.position
    return done
