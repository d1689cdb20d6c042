"""Reads, in the background of a server, the sessions that no hook has reported: all are listed,
then their turns become rows, while the summaries of all compactions are compared."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from sqlalchemy.engine import Connection

from holdfast.events import history
from holdfast.events.history import Figures
from holdfast.hub.ingest import gather, windows
from holdfast.hub.ingest import sync as ingest
from holdfast.hub.ingest.records import RecordBatch
from holdfast.hub.store.store import Store
from holdfast.wire import log
from holdfast.wire.errors import describe

LOOK_SECONDS = 30.0


class PastReader:
    """Rows and comparisons are made on a thread each: the model that compares has a process of
    its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._over = threading.Event()
        self._are_read = threading.Event()  # all transcripts have figures: a moment
        self._threads = [
            threading.Thread(target=self._run, args=[step], name="holdfast-past", daemon=True)
            for step in (self._write_rows, self._compare)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Nobody waits for its end: each of its steps is complete or absent."""
        self._over.set()

    def _run(self, step: Callable[[], None]) -> None:
        logged = ""
        while not self._over.is_set():
            words = ""
            try:
                step()
            except Exception as error:  # a failed look must not end all further ones
                words = describe(error)
            if words and words != logged:
                log.add("ERROR", "history", words)
            logged = words
            self._over.wait(LOOK_SECONDS)

    def _write_rows(self) -> None:
        sources = windows.past_sources()
        known = ingest.read_positions(self._store, sources)
        new = (gather.gather(source, {}) for source in sources if source not in known)
        self._store.write(partial(_list, batches=[batch for batch in new if batch is not None]))
        self._are_read.wait(LOOK_SECONDS)
        for source in sources:
            if not self._over.is_set():
                ingest.sync(self._store, [source], announce=False, refreshes=False)

    def _compare(self) -> None:
        history.update(self._note, is_over=self._over.is_set)
        self._are_read.set()

    def _note(self, figures: Figures) -> None:
        """They are read in this order."""
        if next(reversed(figures.values())).is_read:
            self._are_read.set()


def _list(connection: Connection, batches: list[RecordBatch]) -> None:
    """Write the first batch of each session together: 60 transactions took four seconds."""
    for batch in batches:
        ingest.ingest_batch(connection, batch, announce=False)
