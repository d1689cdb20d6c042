"""What windows reported of themselves: audit events, which come from every machine and are never
changed, and checkpoints, which are rows of contexts. Alerts, checked summaries and decisions taken
under pressure are read from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import row_times
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.store.tables import agent_contexts, audit, sessions
from holdfast.hub.tree.contexts import SNAPSHOT
from holdfast.window.audit import FREED, PRESSURE, ZONES, under_pressure

_NEWEST_FIRST = (audit.c.at_ms.desc(), audit.c.id)
MOST_WINDOWS = 100  # the newest that were under pressure
MOST_EVENTS = 10_000
MOST_SNAPSHOTS = 500
MOST_MARKS = 1_000  # of each kind, the newest
MOST_ANNOUNCED = 50  # of one batch; the newest are announced


def list_page(
    connection: Connection, limit: int, offset: int, project_id: str | None, **of: Any
) -> Page:
    """List audit events, newest first. An event belongs to the project of its session."""
    here = sa.select(sessions.c.id).where(sessions.c.project_id == project_id)
    where = [] if project_id is None else [audit.c.session_id.in_(here)]
    return db.page(connection, limit, offset, table=audit, order=_NEWEST_FIRST, where=where, **of)


def list_decisions(connection: Connection, session_id: str | None = None) -> list[Row]:
    """List decisions that were taken under pressure, newest first. Audit events say when there was
    pressure; the snapshots of checkpoints hold the decisions."""
    wanted = audit.c.kind.in_((PRESSURE, FREED)), *db.matching(audit, session_id=session_id)
    windows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in db.fetch(connection, audit, *wanted, order=_NEWEST_FIRST, most=MOST_EVENTS):
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
        {"session_id": session, "agent_id": agent or None, **decision}
        for session, agent in chosen
        for decision in under_pressure(
            decided.get((session, agent), {}).values(), windows[session, agent]
        )
    ]
    return sorted(found, key=lambda decision: (-decision["at_ms"], -(decision["turn"] or 0)))


class _Decision(msgspec.Struct):
    """As a checkpoint saved it. Those of older versions lack the question and the turn."""

    at: str
    decision: str
    turn: int | None = None
    by: str | None = None
    question: str | None = None


def _read_decisions(
    connection: Connection, session_ids: set[str]
) -> dict[tuple[str, str], dict[tuple[int, str], tuple[int, dict[str, Any]]]]:
    """Return the decisions of each window with their times, each once."""
    table = agent_contexts.c
    query = sa.select(table.session_id, table.role_context).where(
        table.agent_type == SNAPSHOT, table.session_id.in_(session_ids)
    )
    found: dict[tuple[str, str], dict[tuple[int, str], tuple[int, dict[str, Any]]]] = {}
    for row in db.rows(connection, query.order_by(table.updated_ms.desc()).limit(MOST_SNAPSHOTS)):
        held = row["role_context"] if isinstance(row["role_context"], dict) else {}
        window = found.setdefault((row["session_id"], str(held.get("agent_id") or "")), {})
        for at_ms, decision in _parse_decisions(held.get("decided")):
            window.setdefault((at_ms, decision["decision"]), (at_ms, decision))
    return found


def _parse_decisions(decided: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the valid decisions of a snapshot, each with its time."""
    for value in decided if isinstance(decided, list) else ():
        try:
            known = msgspec.structs.asdict(msgspec.convert(value, _Decision))
        except msgspec.ValidationError:
            continue
        at_ms = row_times.from_iso(known.pop("at"))
        if at_ms is not None:
            yield at_ms, known


def alert_marks(connection: Connection, session_id: str, agent_id: str) -> list[Row]:
    """List the alerts of a window, oldest first."""
    mine = (audit.c.session_id == session_id) & (audit.c.kind == PRESSURE)
    whose = sa.func.coalesce(audit.c.agent_id, "") == agent_id
    found = db.fetch(connection, audit, mine, whose, order=_NEWEST_FIRST, most=MOST_MARKS)
    return [_alert(row["at_ms"], row["body"] or {}) for row in reversed(found)]


def _alert(at_ms: int, body: dict[str, Any]) -> Row:
    ratio = body.get("used_ratio")
    return {
        "at_ms": at_ms,
        "level": _word(body.get("level")),
        "zone": _word(body.get("zone")),
        "used_ratio": float(ratio) if isinstance(ratio, int | float) else None,
        "heard": "told the model" in (body.get("done") or ()),
    }


def checkpoint_marks(connection: Connection, session_id: str, agent_id: str) -> list[Row]:
    """List the checkpoints of a window, oldest first."""
    table = agent_contexts.c
    mine = (table.session_id == session_id) & (table.agent_type == SNAPSHOT)
    query = sa.select(table.compact_id, table.updated_ms, table.role_context).where(mine)
    found = db.rows(connection, query.order_by(table.updated_ms.desc()).limit(MOST_MARKS))
    held = [(row, row["role_context"] or {}) for row in reversed(found)]
    return [
        {"id": row["compact_id"], "at_ms": row["updated_ms"], "trigger": _word(role.get("trigger"))}
        for row, role in held
        if (role.get("agent_id") or "") == agent_id
    ]


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def checkpoints_since(connection: Connection, since_ms: int, project_id: str | None = None) -> int:
    table = agent_contexts.c
    wanted = db.matching(agent_contexts, agent_type=SNAPSHOT, project_id=project_id)
    query = sa.select(sa.func.count()).where(*wanted, table.updated_ms >= since_ms)
    return connection.scalar(query) or 0


def summary_checks(connection: Connection, found: Iterable[Row]) -> list[Row]:
    """Return the hooks' check of the summary of each compaction; empty if no hook checked it."""
    found = list(found)
    session_ids = {row["session_id"] for row in found}
    checks = audit.c.kind == FREED, audit.c.session_id.in_(session_ids)
    noted = {
        (row["session_id"], row["agent_id"] or "", row["body"].get("number")): row["body"]
        for row in db.fetch(connection, audit, *checks, order=_NEWEST_FIRST)
    }
    keys = ((row["session_id"], row["agent_id"], row["number"]) for row in found)
    return [dict(noted.get(key, {})) for key in keys]


def announce_audit(connection: Connection, noted: Sequence[Row]) -> None:
    """Announce new alerts, and checked summaries with their briefs."""
    wanted = [row for row in noted if row["kind"] in _TOLD_OF][-MOST_ANNOUNCED:]
    session_ids = {row["session_id"] for row in wanted}
    query = sa.select(sessions.c.id, sessions.c.project_id).where(sessions.c.id.in_(session_ids))
    project_of = (
        {row["id"]: row["project_id"] for row in db.rows(connection, query)} if wanted else {}
    )
    for row in wanted:
        kind, shown = _TOLD_OF[row["kind"]]
        body = {name: (row["body"] or {}).get(name) for name in shown}
        body["agent_id"] = row["agent_id"] or ""
        project_id = project_of.get(row["session_id"])
        db.announce(connection, kind, body, row, at_ms=row["at_ms"], project_id=project_id)


_TOLD_OF = {
    PRESSURE: ("alert.raised", ("level", "zone", "used_ratio")),
    FREED: ("brief.given", ("number", "not_found", "restored")),
}


def announce_checkpoints(connection: Connection, saved: Sequence[Row]) -> None:
    for row in saved[-MOST_ANNOUNCED:]:
        snapshot = row["role_context"] or {}
        shown = {"checkpoint_id": row["compact_id"], "agent_id": snapshot.get("agent_id") or ""}
        shown |= {"trigger": snapshot.get("trigger")}
        db.tell(connection, "checkpoint.kept", {**row, **shown}, *shown, at_ms=row["updated_ms"])
