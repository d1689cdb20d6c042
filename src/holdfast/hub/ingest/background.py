"""Background work of a long-running process: ingest what sessions wrote, and clean up.

It runs on its own thread, so reading long transcripts delays neither answers nor shutdown.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.hub import row_times
from holdfast.hub.ingest import sync as ingest
from holdfast.hub.projection import refresh
from holdfast.hub.repair import cleanup
from holdfast.hub.store import schema, write_health
from holdfast.hub.store.store import Store
from holdfast.hub.tree import event_log
from holdfast.settings import load as settings_load
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

ALL_SECONDS = 10.0
RECENT_SECONDS = 600.0
AFTER_SECONDS = 3.0  # the client writes a transcript a moment after the hook's line


class Spools:
    """Checks all windows now and then, and windows in use every time."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._sessions_ns = -1
        self._all_at = 0.0
        self._moved_at = time.monotonic()  # so that changes from before the start are read

    def moved(self) -> bool:
        now = time.monotonic()
        if self._look(self._to_look_at(now)):
            self._moved_at = now
        return now - self._moved_at <= AFTER_SECONDS

    def _to_look_at(self, now: float) -> list[str]:
        """Return all spools if a session is new or the last full check was long ago."""
        sessions_ns = _written_ns(places.windows())
        if sessions_ns != self._sessions_ns or now - self._all_at >= ALL_SECONDS:
            self._sessions_ns, self._all_at = sessions_ns, now
            return _all()
        recent = (time.time() - RECENT_SECONDS) * 1e9
        return [path for path, written in self._seen.items() if written > recent]

    def _look(self, paths: list[str]) -> bool:
        now = {path: _written_ns(path) for path in paths}
        moved = any(self._seen.get(path) != written for path, written in now.items())
        self._seen |= now
        return moved


def _all() -> list[str]:
    """Return the spool of every window, or the watcher's state file where no hook writes one."""
    windows = Path(places.windows())
    spools = {path.parent: path for path in windows.glob("*/*/spool")}
    states = {path.parent: path for path in windows.glob("*/*/state.json")}
    return [str(path) for path in (states | spools).values()]


def _written_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 (a thousand of them a second)
    except OSError:
        return 0


LOOK_SECONDS = 1.0
VERSION_SECONDS = 5.0
PRUNE_SECONDS = 60.0
TIDY_SECONDS = 3600.0
END_SECONDS = 5.0


class Warm:
    def __init__(self, store: Store, name: str = "serve") -> None:
        self._store = store
        self._name = name  # in the log
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="holdfast-warm", daemon=True)
        self._logged: dict[str, str] = {}  # by chore: its last logged error
        self._followed = 0
        self._reported = write_health.WriteHealth()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Work under way may be cut off; each of its transactions is complete or absent."""
        self._over.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        spools = Spools()
        every = {self._look_at_version: VERSION_SECONDS, prune: PRUNE_SECONDS, tidy: TIDY_SECONDS}
        due = dict.fromkeys(every, time.monotonic())
        while not self._over.is_set():
            for chore, at in due.items():
                if time.monotonic() >= at:
                    due[chore] = time.monotonic() + every[chore]
                    self._try(chore)
            if spools.moved():
                self._try(sync)
            self._try(self._follow)
            self._try(self._report_writes)
            self._over.wait(LOOK_SECONDS)

    def _follow(self, store: Store) -> None:
        """Rewrite the projection that hooks of this machine read, as soon as it changes."""
        self._followed = refresh.follow(store, self._followed)

    def _report_writes(self, store: Store) -> None:
        """Save failed writes for `holdfast doctor`."""
        found = store.write_health
        if found.failed and found != self._reported:
            write_health.save(found)
            self._reported = found

    def _look_at_version(self, store: Store) -> None:
        """Stop using a database that a newer Holdfast has upgraded, until this one is newer too."""
        before, store.outgrown = store.outgrown, store.read(schema.find_newer)
        if store.outgrown is not None and before is None:
            log.add("ERROR", self._name, f"{store.outgrown}; {store.outgrown.hint}")

    def _try(self, chore: Callable[[Store], None]) -> None:
        """Run a chore. A failed one runs again at its next turn; the same error is logged once."""
        if self._store.outgrown is not None and chore != self._look_at_version:
            return
        name = chore.__name__.lstrip("_")
        try:
            chore(self._store)
            self._logged.pop(name, None)
        except Exception as error:
            words = str(error) if isinstance(error, HoldfastError) else repr(error)
            if words != self._logged.get(name):
                log.add("ERROR", self._name, f"{name}: {words}")
            self._logged[name] = words


def sync(store: Store) -> None:
    """Ingest what hooks and transcripts report."""
    ingest.sync(store, refreshes=False)


def prune(store: Store) -> None:
    store.write(lambda c: event_log.prune(c, row_times.now_ms()))


def tidy(store: Store) -> None:
    settings = settings_load.load()
    retention = cleanup.Retention(
        settings.whole("checkpoint_days"), settings.whole("checkpoint_daily_days")
    )
    store.write(lambda c: cleanup.run(c, row_times.now_ms(), retention))
