"""The watcher on the message board: it announces checkpoints and delivers posted messages.

Everything that touches the store runs on a side thread, so that a database that hangs delays
neither a look nor the end of the watcher.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import Connection

from holdfast.hub import clean_text, ids
from holdfast.hub.board import messages, outboxes
from holdfast.hub.store.rows import Row, newest_event
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import meet_project
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.watcher.watch import Glance

TOPIC, FROM = "checkpoint_trigger", "watcher"
MESSAGE_TTL_SECONDS = 1_800
PATIENCE_SECONDS = 5.0
StoreFinder = Callable[[], Store | None]


class BoardWriter:
    """Posts and delivers messages through the store that `find_store` finds."""

    def __init__(self, find_store: StoreFinder) -> None:
        self._find_store = find_store
        self._store: Store | None = None
        self._after = 0
        self._complete = False
        self._last_error = ""
        self._thread: threading.Thread | None = None

    def announce(self, seen: Glance, why: str, checkpoint: str, now_ms: int) -> None:
        """Announce a checkpoint, once. If the board cannot be reached, that is logged."""
        self._try(lambda store: _post(store, seen, why, checkpoint, now_ms))

    def follow(self, now_ms: int, *, again: bool = False) -> None:
        """Store the messages that hooks wrote, and deliver those posted since the last look."""
        self._try(lambda store: self._follow(store, now_ms, again))

    def _follow(self, store: Store, now_ms: int, again: bool) -> None:
        outboxes.settle(store, now_ms)
        newest = store.read(newest_event)
        if again or not self._complete or newest != self._after:
            self._complete = outboxes.hand_out(store, now_ms)
        self._after = newest

    def _try(self, chore: Callable[[Store], object]) -> None:
        """Run a chore on a thread of its own. A board that fails or hangs delays no checkpoint: a
        late chore runs on, and none starts before it ended. The same error is logged once."""
        if not self._is_busy:
            name = "holdfast-board"
            self._thread = threading.Thread(
                target=self._reach, args=[chore], name=name, daemon=True
            )
            self._thread.start()
            self._thread.join(PATIENCE_SECONDS)
        if self._is_busy:
            self._complain("it does not answer")

    @property
    def _is_busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _reach(self, chore: Callable[[Store], object]) -> None:
        try:
            self._store = self._store or self._find_store()
            if self._store is not None:
                chore(self._store)
            self._last_error = ""
        except Exception as error:
            self._complain(
                str(error) if isinstance(error, HoldfastError | OSError) else repr(error)
            )

    def _complain(self, words: str) -> None:
        if words != self._last_error:
            log.add("ERROR", "watcher", f"the board: {words}")
        self._last_error = words


def _post(store: Store, seen: Glance, why: str, checkpoint: str, now_ms: int) -> None:
    transcript, name = seen.found, Path(checkpoint).stem
    clean_text.check_names(session_id=transcript.session_id, agent_id=transcript.agent_id or None)
    words = f"checkpoint {name} is saved ({why}, {seen.used_in_words}); go on"
    content = {"type": TOPIC, "reason": why, "checkpoint": name, "message": words}
    content |= {"session_id": transcript.session_id, "agent_id": transcript.agent_id}
    row = messages.draft(
        FROM,
        TOPIC,
        content,
        now_ms,
        to_agent=transcript.agent_id or transcript.session_id,
        ttl_seconds=MESSAGE_TTL_SECONDS,
        project_id=ids.project_id(seen.project),
    )
    row = row | {"id": ids.make_id(TOPIC, transcript.session_id, transcript.agent_id, name)}
    if store.write(partial(_put, seen.project, row, now_ms)):
        outboxes.hand_out_posted(store, [row])


def _put(project: str, row: Row, now_ms: int, connection: Connection) -> bool:
    meet_project(connection, project, now_ms)
    return messages.post_once(connection, row)
