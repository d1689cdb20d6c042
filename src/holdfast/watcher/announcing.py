"""What the watcher says on the board, and what it hands out from there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy.engine import Connection

from holdfast.store import ids
from holdfast.store.page import Row
from holdfast.store.store import Store
from holdfast.watcher.glance import Glance
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError
from holdfast.work import board, events, messages, projects

TOPIC, FROM = "checkpoint_trigger", "watcher"
TTL_SECONDS = 1_800
POSTED = events.Wanted(kind="message.posted")


class Board:
    """The store is opened when there is something to say or to look for, and stays open."""

    def __init__(self, store: Store | None, database: str = "") -> None:
        self._store, self._given = store, store is not None
        self._database = database
        self._after = 0
        self._complete = False
        self._said = ""

    def trigger(self, seen: Glance, why: str, checkpoint: str, now_ms: int) -> None:
        """Once for each checkpoint, also where the one who took it was killed before he said so."""
        row = _row(seen, why, checkpoint, now_ms)

        def put(connection: Connection) -> bool:
            projects.meet(connection, seen.project, now_ms)
            return messages.post_once(connection, row)

        def said(store: Store) -> None:
            if store.write(put):
                board.handed(store, row)

        self._try(said)

    def follow(self, now_ms: int, *, anew: bool = False) -> None:
        """Settle what hooks said; hand out what was posted since the last look, from anywhere."""
        self._try(lambda store: self._follow(store, now_ms, anew))

    def _follow(self, store: Store, now_ms: int, anew: bool) -> None:
        board.settle(store, now_ms)
        newest = store.read(events.newest)
        if anew or not self._complete or self._was_posted(store, newest):
            self._complete = board.hand_out(store, now_ms)
        self._after = newest

    def _was_posted(self, store: Store, newest: int) -> bool:
        """Since the last look; most events are of other kinds."""
        if newest == self._after:
            return False
        since = store.read(lambda c: events.since(c, self._after, POSTED, 1))
        return bool(since.rows) or since.missed

    def _try(self, chore: Callable[[Store], object]) -> None:
        """A board that cannot be reached holds up no checkpoint; the same words are logged once."""
        try:
            if self._store is None:
                self._store = Store.open(self._database)
            chore(self._store)
            self._said = ""
        except (HoldfastError, OSError) as slip:
            if str(slip) != self._said:
                log.add("ERROR", "watcher", f"the board: {slip}")
            self._said = str(slip)

    def close(self) -> None:
        if self._store is not None and not self._given:
            self._store.close()
            self._store = None


def _row(seen: Glance, why: str, checkpoint: str, now_ms: int) -> Row:
    found, name = seen.found, Path(checkpoint).stem
    words = f"checkpoint {name} is kept ({why}, {seen.used_ratio:.0%} used); go on"
    content = {"type": TOPIC, "reason": why, "checkpoint": name, "message": words}
    content |= {"session_id": found.session_id, "agent_id": found.agent_id}
    row = messages.draft(
        FROM,
        TOPIC,
        content,
        now_ms,
        to_agent=found.agent_id or found.session_id,
        ttl_seconds=TTL_SECONDS,
        project_id=projects.id_of(seen.project),
    )
    return row | {"id": ids.of(TOPIC, found.session_id, found.agent_id, name)}
