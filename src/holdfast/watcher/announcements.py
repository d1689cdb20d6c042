"""What the watcher says on the board, and what it hands out from there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sqlalchemy.engine import Connection

from holdfast.hub import public_names
from holdfast.hub.board import messages, outboxes
from holdfast.hub.errors import Refused
from holdfast.hub.store import ids
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.tree import live_events, projects
from holdfast.watcher.errands import Aside
from holdfast.watcher.glance import Glance
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError
from holdfast.wire.inert import is_utf8

TOPIC, FROM = "checkpoint_trigger", "watcher"
TTL_SECONDS = 1_800
MOST_UNSAID = 1_000
POSTED = live_events.Wanted(kind="message.posted")
Found = Callable[[], Store | None]


class Board:
    """The store: given, or found at the first look at which there is one, or opened when there is
    something to say or to look for; it stays open."""

    def __init__(self, store: Store | Found | None, database: str = "") -> None:
        self._found: Found = store if callable(store) else lambda: Store.open(database)
        self._store = None if callable(store) else store
        self._is_ours = store is None
        self._unsaid: dict[str, tuple[str, Row]] = {}  # by the message's id: project, message
        self._after = 0
        self._complete = False
        self._said = ""
        self._aside = Aside()

    def trigger(self, seen: Glance, why: str, checkpoint: str, now_ms: int) -> None:
        """Once for each checkpoint, also where the one who took it was killed before he said so,
        or no board could be reached just then: it is said when one can."""
        if why_not := _refused(seen):
            words = f"nobody can be told by such a name: {why_not}"
            log.add("WARN", "watcher", f"{seen.found.path}: {words}")
            return
        row = _row(seen, why, checkpoint, now_ms)
        self._unsaid[row["id"]] = seen.project, row
        if len(self._unsaid) > MOST_UNSAID:
            del self._unsaid[next(iter(self._unsaid))]
        self._try(lambda store: self._say(store, now_ms))

    def _say(self, store: Store, now_ms: int) -> None:
        for name, (project, row) in list(self._unsaid.items()):
            if row["expires_ms"] > now_ms and store.write(partial(_put, project, row, now_ms)):
                outboxes.handed(store, [row])
            self._unsaid.pop(name, None)  # a look that went on may have had to let go of it

    def follow(self, now_ms: int, *, anew: bool = False) -> None:
        """Settle what hooks said; hand out what was posted since the last look, from anywhere."""
        self._try(lambda store: self._follow(store, now_ms, anew))

    def _follow(self, store: Store, now_ms: int, anew: bool) -> None:
        self._say(store, now_ms)
        outboxes.settle(store, now_ms)
        newest = store.read(live_events.newest)
        if anew or not self._complete or self._was_posted(store, newest):
            self._complete = outboxes.hand_out(store, now_ms)
        self._after = newest

    def _was_posted(self, store: Store, newest: int) -> bool:
        """Since the last look; most events are of other kinds."""
        if newest == self._after:
            return False
        since = store.read(lambda c: live_events.since(c, self._after, POSTED, 1))
        return bool(since.rows) or since.missed

    def _try(self, chore: Callable[[Store], object]) -> None:
        """A board that cannot be reached, or that hangs, holds up no checkpoint; the same words are
        logged once."""
        if not self._aside.do(partial(self._reach, chore)):
            self._complain("it does not answer; what there is to say waits")

    def _reach(self, chore: Callable[[Store], object]) -> None:
        try:
            if self._store is None:
                self._store = self._found()
            if self._store is not None:
                chore(self._store)
            self._said = ""
        except Exception as slip:
            self._complain(str(slip) if isinstance(slip, HoldfastError | OSError) else repr(slip))

    def _complain(self, words: str) -> None:
        if words != self._said:
            log.add("ERROR", "watcher", f"the board: {words}")
        self._said = words

    def close(self) -> None:
        if self._store is not None and self._is_ours and not self._aside.is_busy:
            self._store.close()
            self._store = None


def _refused(seen: Glance) -> str:
    """Why the board would not take these names; one it refused would hold up all others."""
    found = seen.found
    try:
        public_names.check(session_id=found.session_id, agent_id=found.agent_id or None)
    except Refused as slip:
        return str(slip)
    return "" if is_utf8(seen.project) else "its project must be text in UTF-8"


def _put(project: str, row: Row, now_ms: int, connection: Connection) -> bool:
    projects.meet(connection, project, now_ms)
    return messages.post_once(connection, row)


def _row(seen: Glance, why: str, checkpoint: str, now_ms: int) -> Row:
    found, name = seen.found, Path(checkpoint).stem
    words = f"checkpoint {name} is kept ({why}, {seen.used_in_words}); go on"
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
