"""What agents agree on: claims (one agent owns a piece of work in a project until a time), and
waits (which agent waits for which, as the agents say; nothing is derived from it).
"""

from typing import Any

import sqlalchemy as sa

from holdfast.hub import clean_text, ids, row_times
from holdfast.hub.errors import AlreadyThere, Refused
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.store.tables import agent_contexts, blockings, claims, sessions, subtasks, windows
from holdfast.hub.tree.sessions import get_project

USUAL_TTL_SECONDS = 3_600
MOST_TTL_SECONDS = 86_400
TOLD = ("work", "agent_id", "expires_ms")


def take_claim(connection: sa.Connection, given: Row, now_ms: int) -> Row:
    """Take a claim or renew it; raise `AlreadyThere` while another agent has it. One SQL statement
    decides who gets it."""
    project_id, work, agent_id = (given[name] for name in ("project_id", "work", "agent_id"))
    clean_text.check_names(work=work, agent_id=agent_id)
    get_project(connection, project_id)
    row: Row = {"project_id": project_id, "work": work, "agent_id": agent_id}
    seconds = given.get("ttl_seconds", USUAL_TTL_SECONDS)
    row |= {"claimed_ms": now_ms, "expires_ms": now_ms + seconds * 1000}
    mine = claims.c.agent_id == agent_id
    free = claims.c.expires_ms <= now_ms
    changes = {
        "agent_id": agent_id,
        "claimed_ms": sa.case((mine & ~free, claims.c.claimed_ms), else_=now_ms),
        "expires_ms": row["expires_ms"],
    }
    key = ["project_id", "work"]
    taking = db.upsert(connection, claims, key, row, changes, only=mine | free).returning(claims)
    for _ in range(3):  # on PostgreSQL the holder may release it between the two queries
        if got := connection.execute(taking).mappings().first():
            kind = "claim.taken" if got["claimed_ms"] == now_ms else "claim.renewed"
            return db.tell(connection, kind, dict(got), *TOLD)
        if holder := _holder(connection, project_id, work):
            raise _already_claimed(holder)
    raise AlreadyThere("Other agents are claiming it at this moment", work)


def release_claim(
    connection: sa.Connection, project_id: str, work: str, agent_id: str, now_ms: int
) -> Row:
    """Release a claim. Only the agent that has it may do so."""
    held = _holder(connection, project_id, work)
    if held is not None and held["agent_id"] != agent_id and held["expires_ms"] > now_ms:
        raise _already_claimed(held)
    held = db.remove(connection, claims, project_id=project_id, work=work, agent_id=agent_id)
    return db.tell(connection, "claim.released", held, *TOLD)


def list_claims(connection: sa.Connection, limit: int, offset: int, now_ms: int, **of: Any) -> Page:
    """List claims that have not expired, soonest to expire first."""
    order = (claims.c.expires_ms, claims.c.project_id, claims.c.work)
    where = [claims.c.expires_ms > now_ms]
    return db.page(connection, limit, offset, table=claims, order=order, where=where, **of)


def _holder(connection: sa.Connection, project_id: str, work: str) -> Row | None:
    mine = db.matching(claims, project_id=project_id, work=work)
    return db.first(connection, sa.select(claims).where(*mine))


def _already_claimed(held: Row) -> AlreadyThere:
    times = {f"{name}_at": row_times.to_iso(held[f"{name}_ms"]) for name in ("claimed", "expires")}
    words = f"Claimed by {held['agent_id']} until {times['expires_at']}"
    return AlreadyThere(words, held["work"], agent_id=held["agent_id"], **times)


MOST_WAITS = 1_000
PAIR = ("blocked_by", "blocked_agent")
_LONGEST_FIRST = db.oldest_first(blockings)


def add_wait(connection: sa.Connection, given: Row, now_ms: int) -> Row:
    """Add a wait. There is one per pair of agents; adding it again changes the reason."""
    if given["blocked_by"] == given["blocked_agent"]:
        raise Refused("An agent cannot block itself", "blocked_agent")
    row = {"id": ids.new(), "reason": None, "created_ms": now_ms, **given}
    changes = {"reason": given.get("reason", blockings.c.reason)}
    kept = db.put_and_get(connection, blockings, PAIR, row, changes)
    return db.tell(connection, "blocking.added", kept, *PAIR)


def find_waits(connection: sa.Connection, **agents: str) -> list[Row]:
    """Return the waits of these agents, the longest first."""
    return db.fetch(connection, blockings, *db.matching(blockings, **agents), order=_LONGEST_FIRST)


def list_waits(connection: sa.Connection, project_id: str | None = None) -> list[Row]:
    """List waits, the longest first; with a project, those of which one agent works on it."""
    where = []
    if project_id is not None:
        here = sa.select(sessions.c.id).where(sessions.c.project_id == project_id)
        tables: Any = (windows, agent_contexts)
        known = sa.union(
            *(sa.select(t.c.agent_id).where(t.c.project_id == project_id) for t in tables),
            here,
            sa.select(subtasks.c.agent_id).where(
                subtasks.c.session_id.in_(here), subtasks.c.agent_id.is_not(None)
            ),
        )
        where = [sa.or_(*(blockings.c[name].in_(known) for name in PAIR))]
    return db.fetch(connection, blockings, *where, order=_LONGEST_FIRST, most=MOST_WAITS)


def remove_wait(connection: sa.Connection, **which: str) -> Row:
    """End a wait, by its id or by its two agents."""
    gone = db.remove(connection, blockings, **which)
    return db.tell(connection, "blocking.removed", gone, *PAIR)
