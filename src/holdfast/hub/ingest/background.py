"""Background work of a long-running process: ingest what sessions wrote, and clean up.

It runs on its own thread, so reading long transcripts delays neither answers nor shutdown.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from holdfast.client import agents
from holdfast.hub import cleanup, projection, row_times
from holdfast.hub.ingest import gather, set_aside
from holdfast.hub.ingest import sync as ingest
from holdfast.hub.ingest.windows import all_windows
from holdfast.hub.store import backup
from holdfast.hub.store.rows import prune_events
from holdfast.hub.store.store import Store
from holdfast.settings import load as settings_load
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

ALL_SECONDS = 10.0
RECENT_SECONDS = 600.0
READ_AFTER_SECONDS = (0.0, 1.0, 3.0)  # the client writes a transcript after the hook's line


class Spools:
    """Find the sessions to read: those whose spools or states changed, and the same a few times
    after that, because the client writes a transcript after the hook's line.

    All sessions are looked at every ten seconds and when there is a new one, those in use at once.
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._listed_ms, self._all_at = -1, 0.0
        self._read_at: dict[str, list[float]] = {}

    def moved(self) -> list[str]:
        """Return the sessions to read now; at first all of them."""
        recent = (time.time() - RECENT_SECONDS) * 1_000
        paths = [path for path, written in self._seen.items() if written > recent]
        now, listed_ms = time.monotonic(), places.modified_ms(places.windows())
        if listed_ms != self._listed_ms or now - self._all_at >= ALL_SECONDS:
            self._listed_ms, self._all_at = listed_ms, now
            windows = (f"{places.windows()}/{name}" for name in all_windows())
            paths = [f"{path}/{file}" for path in windows for file in ("spool", "state.json")]
        written = {path: places.modified_ms(path) for path in paths}
        moved = [path for path, at in written.items() if self._seen.get(path, 0) != at]
        self._seen |= written
        self.read_again(path.split("/")[-3] for path in moved)
        now = time.monotonic()
        due = [name for name, times in self._read_at.items() if times[0] <= now]
        for name in due:
            left = [at for at in self._read_at.pop(name) if at > now]
            self._read_at |= {name: left} if left else {}
        return due

    def read_again(self, sessions: Iterable[str]) -> None:
        now = time.monotonic()
        for name in sessions:
            self._read_at[name] = [now + after for after in READ_AFTER_SECONDS]


LOOK_SECONDS = 1.0
WATCHED_SECONDS = 0.25  # how often somebody who watches wants it to look
FOLLOW_SECONDS = 1.0
PRUNE_SECONDS = 60.0
RETRY_SECONDS = 30.0
TIDY_SECONDS = 3600.0
END_SECONDS = 5.0


class Warm:
    """`is_watched`: does somebody wait for what is new? Then it looks more often."""

    def __init__(
        self, store: Store, name: str = "serve", is_watched: Callable[[], bool] = lambda: False
    ) -> None:
        self._store = store
        self._name = name  # in the log
        self._is_watched = is_watched
        self._spools = Spools()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="holdfast-warm", daemon=True)
        self._logged: dict[str, str] = {}  # by chore: its last logged error
        self._followed = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Work under way may be cut off; each of its transactions is complete or absent."""
        self._over.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        every = {prune: PRUNE_SECONDS, tidy: TIDY_SECONDS, copy: TIDY_SECONDS}
        every |= {self._follow: FOLLOW_SECONDS, retry: RETRY_SECONDS}
        due = dict.fromkeys(every, time.monotonic())
        while not self._over.is_set():
            self._try(self._ingest)
            for chore, at in due.items():
                if time.monotonic() >= at:
                    due[chore] = time.monotonic() + every[chore]
                    self._try(chore)
            self._over.wait(WATCHED_SECONDS if self._is_watched() else LOOK_SECONDS)

    def _ingest(self, store: Store) -> None:
        """Ingest what hooks and transcripts of sessions that moved report."""
        moved = self._spools.moved()
        if not moved:
            return
        try:
            ingest.sync(store, gather.sources(moved), refreshes=False)
        except Exception:
            self._spools.read_again(moved)
            raise

    def _follow(self, store: Store) -> None:
        """Rewrite the projection that hooks of this machine read, as soon as it changes."""
        self._followed = projection.follow(store, self._followed)

    def _try(self, chore: Callable[[Store], None]) -> None:
        """Run a chore. A failed one runs again at its next turn; the same error is logged once."""
        name = chore.__name__.lstrip("_")
        try:
            chore(self._store)
            self._logged.pop(name, None)
        except Exception as error:
            words = str(error) if isinstance(error, HoldfastError) else repr(error)
            if words != self._logged.get(name):
                log.add("ERROR", self._name, f"{name}: {words}")
            self._logged[name] = words


def retry(store: Store) -> None:
    """Try the sources again that were set aside. `sync` skips those that wait for longer."""
    if failed := set_aside.load():
        ingest.sync(store, failed, refreshes=False)


def prune(store: Store) -> None:
    store.write(lambda c: prune_events(c, row_times.now_ms()))


def copy(store: Store) -> None:
    backup.copy_nightly(store.engine)


MOST_HELD = 20_000  # the newest; SQLite takes 32,766 values


def tidy(store: Store) -> None:
    settings = settings_load.load()
    kept: dict[str, Any] = {
        "days": settings.whole("checkpoint_days"),
        "daily_after_days": settings.whole("checkpoint_daily_days"),
        "held": list(agents.by_session())[:MOST_HELD],
    }
    store.write(lambda c: cleanup.run(c, row_times.now_ms(), **kept))
