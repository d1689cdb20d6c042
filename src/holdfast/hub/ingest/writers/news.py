"""Announce ingested alerts, checked summaries and checkpoints to listeners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store import pending_writes
from holdfast.hub.store.rows import Row, rows
from holdfast.hub.store.tables import sessions
from holdfast.window.audit import FREED, PRESSURE

MOST = 50  # of one batch, the newest


def announce_audit(connection: Connection, noted: Sequence[Row]) -> None:
    """`alert.raised`, and `brief.given` once a summary was checked and its brief composed."""
    wanted = [row for row in noted if row["kind"] in (PRESSURE, FREED)][-MOST:]
    ids = {row["session_id"] for row in wanted if row["session_id"]}
    query = sa.select(sessions.c.id, sessions.c.project_id).where(sessions.c.id.in_(ids))
    project_of = {row["id"]: row["project_id"] for row in rows(connection, query)}
    for row in wanted:
        kind, body = _event_for(row)
        pending_writes.announce(
            connection,
            kind,
            {"agent_id": row["agent_id"] or "", **body},
            project_id=project_of.get(row["session_id"]),
            session_id=row["session_id"],
            at_ms=row["at_ms"],
        )


def _event_for(row: Row) -> tuple[str, dict[str, Any]]:
    body = row["body"] or {}
    if row["kind"] == PRESSURE:
        return "alert.raised", {name: body.get(name) for name in ("level", "zone", "used_ratio")}
    found = {name: body.get(name) for name in ("number", "lost", "restored")}
    for name in ("called_done", "in_users_name"):
        found[name] = len(body.get(name) or ())
    return "brief.given", found


def announce_checkpoints(connection: Connection, saved: Sequence[Row]) -> None:
    for row in saved[-MOST:]:
        snapshot = row["role_context"] or {}
        pending_writes.announce(
            connection,
            "checkpoint.kept",
            {
                "checkpoint_id": row["compact_id"],
                "agent_id": snapshot.get("agent_id") or "",
                "trigger": snapshot.get("trigger"),
            },
            project_id=row["project_id"],
            session_id=row["session_id"],
            at_ms=row["updated_ms"],
        )
