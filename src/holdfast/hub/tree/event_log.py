"""Audit events and live events.

Audit events come from every machine that reports to this store, and are never changed. Live events
tell listeners what is new, for example alerts and checkpoints. They are numbered in the order of
commits, on both engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.store.events import announce, tell
from holdfast.hub.store.rows import Page, Row, fetch_page, matching, rows
from holdfast.hub.store.tables import agent_contexts, audit, events, sessions
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.window.audit import FREED, PRESSURE, ZONES, under_pressure

MOST_WINDOWS = 100  # the newest that were under pressure
MOST_EVENTS = 10_000
MOST_SNAPSHOTS = 500


def list_page(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    project_id: str | None = None,
    **of: str | None,
) -> Page:
    """List audit events, newest first. An event belongs to the project of its session."""
    query = sa.select(audit).where(*matching(audit, **of))
    query = query.order_by(audit.c.at_ms.desc(), audit.c.id)
    if project_id is not None:
        mine = sa.select(sessions.c.id).where(sessions.c.project_id == project_id)
        query = query.where(audit.c.session_id.in_(mine))
    return fetch_page(connection, query, limit, offset)


def list_decisions(connection: Connection, session_id: str | None = None) -> list[dict[str, Any]]:
    """List decisions that were taken under pressure, newest first. Audit events say when there was
    pressure; the snapshots of checkpoints hold the decisions."""
    query = sa.select(audit).where(
        audit.c.kind.in_((PRESSURE, FREED)), *matching(audit, session_id=session_id)
    )
    query = query.order_by(audit.c.at_ms.desc(), audit.c.id)
    windows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows(connection, query.limit(MOST_EVENTS)):
        window = (row["session_id"] or "", row["agent_id"] or "")
        windows.setdefault(window, []).append({**(row["body"] or {}), "at_ms": row["at_ms"]})
    pressed = (
        window
        for window, events in windows.items()
        if any(event.get("zone") in ZONES for event in events)
    )
    chosen = list(islice(pressed, MOST_WINDOWS))
    decided = _read_decisions(connection, {session for session, _ in chosen})
    found = [
        {"session_id": session, "agent_id": agent or None, **one}
        for session, agent in chosen
        for one in under_pressure(decided.get((session, agent), ()), windows[session, agent])
    ]
    return sorted(found, key=lambda one: (-one["at_ms"], -(one["turn"] or 0)))


def _read_decisions(
    connection: Connection, sessions: set[str]
) -> dict[tuple[str, str], list[tuple[int, dict[str, Any]]]]:
    """Return the decisions of each window with their times. A decision that several snapshots hold
    is returned once."""
    table = agent_contexts.c
    query = sa.select(table.session_id, table.role_context).where(
        table.agent_type == SNAPSHOT, table.session_id.in_(sessions)
    )
    found: dict[tuple[str, str], dict[tuple[int, str], dict[str, Any]]] = {}
    for row in rows(connection, query.order_by(table.updated_ms.desc()).limit(MOST_SNAPSHOTS)):
        held = row["role_context"] if isinstance(row["role_context"], dict) else {}
        window = (row["session_id"], str(held.get("agent_id") or ""))
        for at_ms, one in _parse_decisions(held.get("decided")):
            found.setdefault(window, {}).setdefault((at_ms, one["decision"]), one)
    return {
        window: [(at_ms, one) for (at_ms, _), one in known.items()]
        for window, known in found.items()
    }


def _parse_decisions(decided: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the valid decisions of a snapshot, each with its time. Snapshots of older versions lack
    the question and the turn."""
    kinds = {"turn": int, "by": str, "question": str, "decision": str}
    for one in decided if isinstance(decided, list) else ():
        known = one if isinstance(one, dict) else {}
        at_ms = row_times.from_iso(known["at"]) if isinstance(known.get("at"), str) else None
        if at_ms is not None and isinstance(known.get("decision"), str):
            fit = {name: known.get(name) for name in kinds if type(known.get(name)) is kinds[name]}
            yield at_ms, dict.fromkeys(kinds) | fit


KEEP_MS = 24 * 3_600_000
MOST_LIVE_EVENTS = 100_000


@dataclass(frozen=True, slots=True)
class EventFilter:
    project_id: str | None = None
    session_id: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class EventsSince:
    """Events after a number. `last` is the number to continue from; events that the filter left out
    are not looked at again."""

    rows: list[Row]
    last: int
    more: bool
    missed: bool = False  # events after the requested number were pruned


def newest_id(connection: Connection) -> int:
    return connection.scalar(_NEWEST) or 0


_NEWEST, _OLDEST = sa.select(sa.func.max(events.c.id)), sa.select(sa.func.min(events.c.id))


def list_since(connection: Connection, after: int, wanted: EventFilter, limit: int) -> EventsSince:
    """List events after a number, oldest first. If the number is higher than any event's (it came
    from another database), list none and continue from the newest."""
    last = newest_id(connection)
    if after >= last:
        return EventsSince([], last, more=False, missed=after > last)
    limits = {"after": after, "last": last, "most": limit}
    found = rows(connection, _events_between(wanted), limits)
    more = len(found) == limit and found[-1]["id"] < last
    is_next = bool(found) and found[0]["id"] == after + 1
    missed = after > 0 and not is_next and _oldest_id(connection) > after + 1
    return EventsSince(found, found[-1]["id"] if more else last, more, missed)


@lru_cache(256)
def _events_between(wanted: EventFilter) -> sa.Select[Any]:
    """Build a listener's query. It is cached, because a listener repeats it."""
    between = events.c.id > sa.bindparam("after"), events.c.id <= sa.bindparam("last")
    query = sa.select(events).where(*between).order_by(events.c.id)
    query = query.where(*matching(events, **asdict(wanted)))
    return query.limit(sa.bindparam("most"))


def prune(connection: Connection, now_ms: int) -> int:
    """Delete events that are older than one day, and the oldest of more than a fixed number."""
    too_old = events.c.at_ms < now_ms - KEEP_MS
    too_many = events.c.id <= newest_id(connection) - MOST_LIVE_EVENTS
    # The newest is never deleted: the next number follows it, and listeners compare with it.
    statement = sa.delete(events).where(events.c.id < newest_id(connection), too_old | too_many)
    return connection.execute(statement).rowcount


def _oldest_id(connection: Connection) -> int:
    return connection.scalar(_OLDEST) or 0


MOST_ANNOUNCED = 50  # of one batch; the newest are announced


def announce_audit(connection: Connection, noted: Sequence[Row]) -> None:
    """Announce new alerts (`alert.raised`) and checked summaries with their briefs
    (`brief.given`)."""
    wanted = [row for row in noted if row["kind"] in _TOLD_OF][-MOST_ANNOUNCED:]
    session_ids = {row["session_id"] for row in wanted}
    query = sa.select(sessions.c.id, sessions.c.project_id).where(sessions.c.id.in_(session_ids))
    project_of = {row["id"]: row["project_id"] for row in rows(connection, query)} if wanted else {}
    for row in wanted:
        kind, shown = _TOLD_OF[row["kind"]]
        body = {name: (row["body"] or {}).get(name) for name in shown}
        announce(
            connection,
            kind,
            {"agent_id": row["agent_id"] or "", **body},
            project_id=project_of.get(row["session_id"]),
            session_id=row["session_id"],
            at_ms=row["at_ms"],
        )


_TOLD_OF = {
    PRESSURE: ("alert.raised", ("level", "zone", "used_ratio")),
    FREED: ("brief.given", ("number", "not_found", "restored")),
}


def announce_checkpoints(connection: Connection, saved: Sequence[Row]) -> None:
    for row in saved[-MOST_ANNOUNCED:]:
        snapshot = row["role_context"] or {}
        shown = {"checkpoint_id": row["compact_id"], "agent_id": snapshot.get("agent_id") or ""}
        shown |= {"trigger": snapshot.get("trigger")}
        tell(connection, "checkpoint.kept", {**row, **shown}, *shown, at_ms=row["updated_ms"])
