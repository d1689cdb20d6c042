"""Deliver messages through the outboxes of windows, and record what was delivered.

Messages are put into the outbox file of a window, where its hooks find them without a database.
What hooks printed, and what was seen to arrive, is written back as rows.

Any number of processes may do this at once: an outbox changes only under its window's lock, and
each row is inserted by one statement.
"""

from collections.abc import Sequence

from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.board import messages
from holdfast.hub.board.local_agents import Listener, entry_of, listeners, with_outbox
from holdfast.hub.board.messages import Ask, DeliveryInbox
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.window import outbox
from holdfast.window.outbox import CONFIRMED, DoneMessage
from holdfast.window.state import WindowBusy, lock_state
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError


def post(store: Store, row: Row) -> None:
    """Post a message and hand it out; what cannot be handed out now, the watcher does later."""
    store.write(lambda c: messages.post(c, row))
    hand_out_posted(store, [row])


def delivery_words(row: Row, whom: Sequence[Listener]) -> str:
    """Say how a posted message will reach `whom`, as far as this machine knows."""
    if row["to_agent"] is None:
        return "delivered by each session's next hook"
    if not whom:
        return "no agent at work on this machine has that name: it waits until one reads it"
    when = "when the subagent ends" if whom[0].is_agent else "by the session's next hook"
    return f"delivered {when}"


def hand_out_posted(store: Store, posted: Sequence[Row]) -> None:
    """Hand out messages that were just posted; if that fails, they stay posted."""
    try:
        hand_out(store, row_times.now_ms(), posted)
    except (HoldfastError, OSError) as error:
        log.add("WARN", "board", f"{len(posted)} messages are handed out later: {error}")


def hand_out(store: Store, now_ms: int, posted: Sequence[Row] = ()) -> bool:
    """Hand out everything pending, or only to the listeners of posted messages. Return True if
    every window could be reached, and none has more waiting than an outbox holds."""
    found = listeners(now_ms)
    able = [one for one in found if not posted or any(_may_hear(one, row) for row in posted)]
    return not [one for one in able if not _hand(store, one, now_ms)]


def _may_hear(one: Listener, row: Row) -> bool:
    if row["to_agent"] is not None:
        return bool(row["to_agent"] == one.name)
    return not one.is_agent and row["project_id"] in (None, one.project_id)


def _hand(store: Store, one: Listener, now_ms: int) -> bool:
    _settle(store, one, now_ms)  # printed messages make room for waiting ones
    whose = one.name, one.project_id, now_ms
    rows = store.read(lambda c: messages.pending(c, *whose, is_subagent=one.is_agent))
    if not rows:
        return True
    known = outbox.known_ids(one.folder)
    try:
        new = [entry_of(row) for row in rows if row["id"] not in known]
        outbox.add_messages(one.folder, new, now_ms)
    except (WindowBusy, OSError) as error:
        log.add("WARN", "board", f"{one.folder}: to be handed out later: {error}")
        return False
    return len(rows) < messages.MOST_PENDING


def settle(store: Store, now_ms: int) -> None:
    """Record what hooks printed and what arrived. Rows are written before outboxes are cleared:
    after a crash in between they are written again, which changes nothing."""
    for one in with_outbox():
        _settle(store, one, now_ms)


def _settle(store: Store, one: Listener, now_ms: int) -> None:
    if not outbox.is_there(one.folder):
        return
    try:
        with lock_state(one.folder):
            outbox.look(one.folder, one.transcript, now_ms)
            printed = [entry.id for entry in outbox.load(one.folder).said if _is_ours(entry.id)]
            over = [done for done in outbox.done_messages(one.folder) if _is_ours(done.id)]
        if printed or over:
            store.write(lambda c: _note(c, one.name, printed, over, now_ms))
        if over:
            with lock_state(one.folder):
                outbox.forget_done(one.folder, over)
    except (WindowBusy, OSError) as error:
        log.add("WARN", "board", f"{one.folder}: to be settled later: {error}")


def _is_ours(message_id: str) -> bool:
    """Whether it is from this board; those of the team server are reported there."""
    return not message_id.startswith(outbox.TEAM)


def _note(
    connection: Connection, name: str, printed: list[str], over: list[DoneMessage], now_ms: int
) -> None:
    confirmed = [done.id for done in over if done.state == CONFIRMED]
    messages.claim(connection, printed, name, now_ms)
    messages.confirm(connection, confirmed, name, now_ms)


def withdraw_read(inbox: DeliveryInbox, ask: Ask) -> DeliveryInbox:
    """Return the inbox without messages that a hook has printed; hooks leave out the others."""
    wanted, printed = set(inbox.unread_ids), set[str]()
    try:
        for listener in listeners(ask.now_ms, ask.agent_id) if wanted else ():
            printed |= outbox.take_back(listener.folder, wanted)
    except (WindowBusy, OSError) as error:
        log.add("WARN", "board", f"{ask.agent_id}: a hook may say what was read: {error}")
        return inbox
    rows = [
        {**row, "already_read": row["already_read"] or row["id"] in printed} for row in inbox.rows
    ]
    return DeliveryInbox(rows, max(0, inbox.unread_remaining - len(printed)))
