"""Bring indexes up to date and make vectors, in the background of a long-lived process.

Vectors of new texts are made five minutes later, so that the model need not stay in memory.

The work runs on a thread of its own, for at most half of the time. One such thread runs per
machine: a process that does not get the lock leaves the work to the one that has it. It yields to
everything else: between two steps it waits while a request is being answered, and it runs at a
lower priority. Nobody has to wait for its end, because each batch is saved as soon as it is made.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from holdfast.files import lock
from holdfast.memory import embedders, engines, locations, sync
from holdfast.memory.embedders import Embedder, NoEmbedder
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

LOOK_SECONDS = 15.0
VECTORS_SECONDS = 300.0
AT_ONCE_SECONDS = 1.0
PATIENCE_SECONDS = 10.0  # a request that hangs does not stop this work
NICE = 5
LOCK = "fill.lock"


class Filler:
    """`projects` is called in every round, because new ones appear while a server runs. `idle` is
    set while no request is being answered; None means that there are no requests."""

    def __init__(
        self, projects: Callable[[], Iterable[str]], *, idle: threading.Event | None = None
    ) -> None:
        self._projects = projects
        self._idle = idle
        self._over = threading.Event()
        self._said = ""
        self._vectors_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="holdfast-fill", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Stop, and wait at most `seconds` for the current step."""
        self._over.set()
        if seconds and self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        _step_back()
        while not self._over.wait(LOOK_SECONDS):
            with suppress(OSError), lock.hold_file(f"{locations.root()}/{LOCK}", 0) as is_ours:
                if is_ours:
                    self.look()

    def look(self) -> None:
        makes_vectors = time.monotonic() >= self._vectors_at
        for project in self._projects():
            if self._over.is_set():
                return
            try:
                self._bring_up(project, makes_vectors)
                self._said = ""
            # one project that cannot be indexed must not stop the others
            except Exception as error:
                self._say(
                    f"{project}: {error}" if isinstance(error, HoldfastError) else repr(error)
                )
        if makes_vectors and not self._is_over():
            self._vectors_at = time.monotonic() + VECTORS_SECONDS

    def _bring_up(self, project: str, makes_vectors: bool) -> None:
        index = engines.open_index(locations.resolve(project))
        done = sync.IndexSync(left=1, items=1)
        while done.left and done.items and self._may_go_on():
            done = sync.sync_index(index, seconds=AT_ONCE_SECONDS)
        embedder = _embedder() if makes_vectors and index.counts().missing else None
        filled = sync.Filled(done=1, left=1 if embedder else 0)
        while embedder and filled.done and filled.left and self._may_go_on():
            began = time.monotonic()
            filled = sync.fill_vectors(
                index, embedder, seconds=AT_ONCE_SECONDS, is_over=self._is_over
            )
            self._over.wait(time.monotonic() - began)

    def _may_go_on(self) -> bool:
        if self._idle is not None:
            self._idle.wait(PATIENCE_SECONDS)
        return not self._over.is_set()

    def _is_over(self) -> bool:
        """Whether the current step must end: a step does not wait for a request to be answered."""
        return self._over.is_set() or (self._idle is not None and not self._idle.is_set())

    def _say(self, words: str) -> None:
        """Log a message, unless it is the same as the previous one."""
        if words != self._said:
            log.add("WARN", "recall", words)
        self._said = words


def _step_back() -> None:
    """Lower the priority of this thread. Only Linux can do this for a single thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def _embedder() -> Embedder | None:
    try:
        return embedders.current_embedder()
    except NoEmbedder:
        return None  # keyword search needs none, and every answer reports that it is missing
