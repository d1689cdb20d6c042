"""Reads, in the background of a server, the sessions that no hook has reported: first all are
listed, then their turns become rows, then the summaries of all compactions are compared."""

from __future__ import annotations

import threading
from functools import partial

from sqlalchemy.engine import Connection

from holdfast.events import history
from holdfast.hub.ingest import gather, past
from holdfast.hub.ingest import sync as ingest
from holdfast.hub.ingest.records import RecordBatch
from holdfast.hub.store.store import Store
from holdfast.wire import log
from holdfast.wire.errors import describe

LOOK_SECONDS = 30.0


class PastReader:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="holdfast-past", daemon=True)
        self._logged = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """It may be stopped at any time: each of its steps is complete or absent."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self._look()
                self._logged = ""
            except Exception as error:  # a failed look must not end all further ones
                words = describe(error)
                if words != self._logged:
                    log.add("ERROR", "history", words)
                self._logged = words
            self._over.wait(LOOK_SECONDS)

    def _look(self) -> None:
        sources = past.sources()
        known = ingest.read_positions(self._store, sources)
        new = (gather.gather(source, {}) for source in sources if source not in known)
        self._store.write(partial(_list, batches=[batch for batch in new if batch is not None]))
        for source in sources:
            if not self._over.is_set():
                ingest.sync(self._store, [source], announce=False, refreshes=False)
        history.update(is_over=self._over.is_set)


def _list(connection: Connection, batches: list[RecordBatch]) -> None:
    """Write the first batch of each session together: 60 transactions took four seconds."""
    for batch in batches:
        ingest.ingest_batch(connection, batch, announce=False)
