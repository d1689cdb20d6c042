"""The board's way to an agent and back: messages go into the outbox of its window, where its hooks
find them without a database; what its hooks said, and what was seen to arrive, comes back as rows.

Any number of processes may do either at once: an outbox changes only under its window's lock, and
rows are handed over by one statement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial

from sqlalchemy.engine import Connection

from holdfast.brief import fence
from holdfast.redact import redact
from holdfast.store.page import Row
from holdfast.store.store import Store
from holdfast.window import handing, outbox, saying
from holdfast.window.outbox import CONFIRMED, Done, Entry
from holdfast.window.state import WindowBusy, held
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError
from holdfast.work import deliveries, messages
from holdfast.work.deliveries import Ask, Inbox
from holdfast.work.heard_by import Listener, listeners, with_outbox

# Said to a subagent only as it ends, and not worth making it go on: it is about its window.
NOT_TO_AGENTS = frozenset(("checkpoint_trigger",))


def post(store: Store, row: Row) -> None:
    """On the board, and on its way; what cannot be handed out now, the watcher does later."""
    store.write(lambda c: messages.post(c, row))
    handed(store, row)


def handed(store: Store, row: Row) -> None:
    """A message that was just posted, to those it is for; the post itself stands in any case."""
    try:
        hand_out(store, row["created_ms"], row)
    except (HoldfastError, OSError) as slip:
        log.add("WARN", "board", f"message {row['id']} is handed out later: {slip}")


def hand_out(store: Store, now_ms: int, row: Row | None = None) -> bool:
    """What is pending, or this one message; whether all of it is on its way: every window could
    be reached, and none has more waiting than an outbox holds."""
    named = row["to_agent"] if row is not None else None
    everybody = listeners(now_ms, named or "")
    everybody = [one for one in everybody if row is None or _may_hear(one, row)]
    missed = [one for one in everybody if not _hand(store, one, now_ms)]
    return not missed


def _may_hear(one: Listener, row: Row) -> bool:
    if row["to_agent"] is not None:
        return bool(row["to_agent"] == one.name)
    return not one.is_agent and row["project_id"] in (None, one.project_id)


def _hand(store: Store, one: Listener, now_ms: int) -> bool:
    _settle(store, one, now_ms)  # what was said makes room for what waits
    project_id = one.project_id
    ask = partial(
        deliveries.pending,
        agent_id=one.name,
        project_id=project_id,
        now_ms=now_ms,
        broadcasts=not one.is_agent,  # by its parent's ear a subagent hears what is for everybody
    )
    found = store.read(ask)
    rows = [row for row in found if not (one.is_agent and row["topic"] in NOT_TO_AGENTS)]
    if not rows:
        return True
    try:
        handing.hand(one.folder, [entry_of(row) for row in rows], now_ms)
    except (WindowBusy, OSError) as slip:
        log.add("WARN", "board", f"{one.folder}: to be handed out later: {slip}")
        return False
    return len(found) < deliveries.MOST_PENDING


def entry_of(row: Row) -> Entry:
    """As the agent will read it: one line, at most 60 tokens, no secrets."""
    tag = f"m-{row['id'].replace('-', '')[-12:]}"
    content = row["content"] or {}
    words = content.get("message")
    words = words if isinstance(words, str) else json.dumps(content, ensure_ascii=False)
    whom = "you" if row["to_agent"] is not None else "all agents"
    line = f"- [{tag}] {row['from_agent']} to {whom}, {row['topic']}: {redact(words)}"
    text = fence.flat(line, outbox.MOST_CHARS)
    return Entry(row["id"], tag, text, row["created_ms"], row["expires_ms"])


def settle(store: Store, now_ms: int) -> None:
    """Take down what hooks said and what arrived. Written first, forgotten after: a crash in
    between writes it again, which changes nothing."""
    for one in with_outbox():
        _settle(store, one, now_ms)


def _settle(store: Store, one: Listener, now_ms: int) -> None:
    if not outbox.is_there(one.folder):
        return
    try:
        with held(one.folder):
            saying.look(one.folder, one.transcript, now_ms)
            said = [entry.id for entry in outbox.load(one.folder).said]
            over = outbox.done(one.folder)
        if said or over:
            store.write(partial(_note, one=one, said=said, over=over, now_ms=now_ms))
        if over:
            with held(one.folder):
                outbox.forget_done(one.folder, over)
    except (WindowBusy, OSError) as slip:
        log.add("WARN", "board", f"{one.folder}: to be settled later: {slip}")


def _note(
    connection: Connection, one: Listener, said: Sequence[str], over: Sequence[Done], now_ms: int
) -> None:
    confirmed = [done.id for done in over if done.state == CONFIRMED]
    deliveries.claim(connection, said, one.name, now_ms)
    deliveries.confirm(connection, confirmed, one.name, now_ms)


def about_to_read(found: Inbox, ask: Ask) -> Inbox:
    """The inbox without what a hook has said already; what is read now no hook will say."""
    try:
        said = withdraw(ask.agent_id, found.unread_ids, ask.now_ms)
    except (WindowBusy, OSError) as slip:
        log.add("WARN", "board", f"{ask.agent_id}: a hook may say what was read: {slip}")
        return found
    rows = [{**row, "already_read": row["already_read"] or row["id"] in said} for row in found.rows]
    return Inbox(rows, found.unread_remaining)


def withdraw(agent_id: str, message_ids: Iterable[str], now_ms: int) -> set[str]:
    """The agent is about to read these itself: they are not said any more. Those that were said
    already are named: it has seen them, or is about to."""
    wanted, said = set(message_ids), set[str]()
    for one in listeners(now_ms, agent_id) if wanted else ():
        said |= handing.take_back(one.folder, wanted)
    return said
