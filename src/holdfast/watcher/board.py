"""The watcher on the message board: it announces checkpoints and delivers posted messages.

Everything that touches the store runs on a side thread, so that a database that hangs delays
neither a look nor the end of the watcher.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sqlalchemy.engine import Connection

from holdfast.hub import clean_text, ids
from holdfast.hub.board import messages, outboxes
from holdfast.hub.errors import Refused
from holdfast.hub.store import events
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.tree import projects
from holdfast.watcher.glance import Glance
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import is_utf8

TOPIC, FROM = "checkpoint_trigger", "watcher"
MESSAGE_TTL_SECONDS = 1_800
PATIENCE_SECONDS = 5.0
MAX_UNSENT = 1_000
POSTED = events.EventFilter(kind="message.posted")
StoreFinder = Callable[[], Store | None]


class BoardWriter:
    """Posts and delivers messages through a store.

    The store is passed in, or returned by a function as soon as there is one, or opened here at the
    first use. It stays open.
    """

    def __init__(self, store: Store | StoreFinder | None, database: str = "") -> None:
        self._found: StoreFinder = store if callable(store) else lambda: Store.open(database)
        self._store = None if callable(store) else store
        self._is_ours = store is None
        self._unsent: dict[str, tuple[str, Row]] = {}  # by the message's id: project, message
        self._after = 0
        self._complete = False
        self._last_error = ""
        self._thread: threading.Thread | None = None

    def trigger(self, seen: Glance, why: str, checkpoint: str, now_ms: int) -> None:
        """Announce a checkpoint, once. It is sent later if the board cannot be reached now, or if
        the watcher that took the checkpoint was killed before it announced it."""
        if why_not := _refusal(seen):
            log.add("WARN", "watcher", f"{seen.found.path} cannot be announced: {why_not}")
            return
        row = _row(seen, why, checkpoint, now_ms)
        self._unsent[row["id"]] = seen.project, row
        if len(self._unsent) > MAX_UNSENT:
            del self._unsent[next(iter(self._unsent))]
        self._try(lambda store: self._send(store, now_ms))

    def _send(self, store: Store, now_ms: int) -> None:
        for name, (project, row) in list(self._unsent.items()):
            if row["expires_ms"] > now_ms and store.write(partial(_put, project, row, now_ms)):
                outboxes.hand_out_posted(store, [row])
            self._unsent.pop(name, None)  # `trigger` may have dropped it meanwhile

    def follow(self, now_ms: int, *, again: bool = False) -> None:
        """Store the messages that hooks wrote, and deliver those posted since the last look."""
        self._try(lambda store: self._follow(store, now_ms, again))

    def _follow(self, store: Store, now_ms: int, again: bool) -> None:
        self._send(store, now_ms)
        outboxes.settle(store, now_ms)
        newest = store.read(events.newest_id)
        if again or not self._complete or self._was_posted(store, newest):
            self._complete = outboxes.hand_out(store, now_ms)
        self._after = newest

    def _was_posted(self, store: Store, newest: int) -> bool:
        """Whether a message was posted since the last look. Most events are of other kinds."""
        if newest == self._after:
            return False
        since = store.read(lambda c: events.list_since(c, self._after, POSTED, 1))
        return bool(since.rows) or since.missed

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
            self._complain("it does not answer; messages wait")

    @property
    def _is_busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _reach(self, chore: Callable[[Store], object]) -> None:
        try:
            if self._store is None:
                self._store = self._found()
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

    def close(self) -> None:
        if self._store is not None and self._is_ours and not self._is_busy:
            self._store.close()
            self._store = None


def _refusal(seen: Glance) -> str:
    """Why the board would refuse these names. One refused message would block all others."""
    transcript = seen.found
    try:
        clean_text.check_names(
            session_id=transcript.session_id, agent_id=transcript.agent_id or None
        )
    except Refused as error:
        return str(error)
    return "" if is_utf8(seen.project) else "its project must be text in UTF-8"


def _put(project: str, row: Row, now_ms: int, connection: Connection) -> bool:
    projects.meet(connection, project, now_ms)
    return messages.post_once(connection, row)


def _row(seen: Glance, why: str, checkpoint: str, now_ms: int) -> Row:
    transcript, name = seen.found, Path(checkpoint).stem
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
        project_id=projects.id_of(seen.project),
    )
    return row | {"id": ids.make_id(TOPIC, transcript.session_id, transcript.agent_id, name)}
