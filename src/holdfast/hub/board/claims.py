"""Claims: one agent owns a piece of work in a project until a time. One SQL statement decides who
gets it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import clean_text, row_times
from holdfast.hub.errors import AlreadyThere
from holdfast.hub.store import events
from holdfast.hub.store.rows import Page, Row, fetch_page, first, matching, remove, upsert
from holdfast.hub.store.tables import claims
from holdfast.hub.tree import projects

USUAL_TTL_SECONDS = 3_600
MOST_TTL_SECONDS = 86_400
TOLD = ("work", "agent_id", "expires_ms")


def take(
    connection: Connection,
    project_id: str,
    work: str,
    agent_id: str,
    now_ms: int,
    ttl_seconds: int = USUAL_TTL_SECONDS,
) -> Row:
    """Take a claim or renew it; raise `AlreadyThere` while another agent has it."""
    clean_text.check_names(work=work, agent_id=agent_id)
    projects.get(connection, project_id)
    row = {
        "project_id": project_id,
        "work": work,
        "agent_id": agent_id,
        "claimed_ms": now_ms,
        "expires_ms": now_ms + ttl_seconds * 1000,
    }
    for _ in range(3):  # on PostgreSQL the holder may release it between the two queries
        got = connection.execute(_take(connection, row, now_ms)).mappings().first()
        if got is not None:
            kind = "claim.taken" if got["claimed_ms"] == now_ms else "claim.renewed"
            events.tell(connection, kind, dict(got), *TOLD)
            return dict(got)
        holder = first(connection, sa.select(claims).where(_is_claim(project_id, work)))
        if holder is not None:
            raise _already_claimed(holder)
    raise AlreadyThere("Other agents are claiming it at this moment", work)


def release(connection: Connection, project_id: str, work: str, agent_id: str, now_ms: int) -> Row:
    """Release a claim. Only the agent that has it may do so."""
    held = first(connection, sa.select(claims).where(_is_claim(project_id, work)))
    if held is not None and held["agent_id"] != agent_id and held["expires_ms"] > now_ms:
        raise _already_claimed(held)
    mine = _is_claim(project_id, work) & (claims.c.agent_id == agent_id)
    held = remove(connection, mine, claims, "Claim")
    events.tell(connection, "claim.released", held, *TOLD)
    return held


def list_page(
    connection: Connection, limit: int, offset: int, now_ms: int, **of: str | None
) -> Page:
    """List claims that have not expired, soonest to expire first."""
    query = sa.select(claims).where(claims.c.expires_ms > now_ms, *matching(claims, **of))
    order = (claims.c.expires_ms, claims.c.project_id, claims.c.work)
    return fetch_page(connection, query.order_by(*order), limit, offset)


def _take(connection: Connection, row: Row, now_ms: int) -> Any:
    mine = claims.c.agent_id == row["agent_id"]
    free = claims.c.expires_ms <= now_ms
    changes = {
        "agent_id": row["agent_id"],
        "claimed_ms": sa.case((mine & ~free, claims.c.claimed_ms), else_=row["claimed_ms"]),
        "expires_ms": row["expires_ms"],
    }
    key = ["project_id", "work"]
    return upsert(connection, claims, key, row, changes, only=mine | free).returning(claims)


def _is_claim(project_id: str, work: str) -> sa.ColumnElement[bool]:
    return (claims.c.project_id == project_id) & (claims.c.work == work)


def _already_claimed(held: Row) -> AlreadyThere:
    until = row_times.to_iso(held["expires_ms"])
    return AlreadyThere(
        f"Claimed by {held['agent_id']} until {until}",
        held["work"],
        agent_id=held["agent_id"],
        claimed_at=row_times.to_iso(held["claimed_ms"]),
        expires_at=until,
    )
