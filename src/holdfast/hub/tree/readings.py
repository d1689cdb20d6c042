"""How full a window was at each step: what `/api/sessions/{id}/readings` draws, also days later,
with the alerts and checkpoints that are marked on the curve.

A row holds the readings of 256 steps as lists of numbers, 24 bytes a reading on SQLite. Which row a
step belongs to follows from its number, so that a step reported twice is one reading. After a day a
row keeps the least and the greatest of every 16 steps, and what is older than 30 days goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Row, matching, put, rows
from holdfast.hub.store.tables import agent_contexts, audit, readings
from holdfast.hub.tree.agent_contexts import SNAPSHOT
from holdfast.window.audit import PRESSURE

CHUNK = 256  # steps of one row
BUCKET = 16  # steps of which a thinned row keeps two
DAY_MS = 86_400_000
KEPT_MS = 30 * DAY_MS
THINNED_AT_ONCE = 500  # rows in one cleaning, which holds up other writers
TREND = 40
MOST_STEP = 1 << 40
_KEY = ("session_id", "agent_id", "chunk")


class UsedAtStep(NamedTuple):
    step: int
    at_ms: int
    used_tokens: int
    limit_tokens: int | None


def add(
    connection: Connection,
    session_id: str,
    agent_id: str,
    points: Iterable[tuple[int, int, int]],
    limit_tokens: int | None,
) -> None:
    """Add (step, at_ms, used_tokens) of one window; a known step is replaced."""
    new: dict[int, dict[int, tuple[int, int]]] = {}
    for step, at_ms, used in points:
        new.setdefault(step // CHUNK, {})[step] = at_ms, used
    of = {"session": session_id, "agent": agent_id, "chunks": list(new)}
    before = {row["chunk"]: row for row in rows(connection, _CHUNKS, of)}
    for chunk, steps in sorted(new.items()):
        held = before.get(chunk)
        merged = {**_steps(held), **steps} if held else steps
        limit = limit_tokens or (held["limit_tokens"] if held else None)
        row = {"session_id": session_id, "agent_id": agent_id, "chunk": chunk}
        row |= {"limit_tokens": limit, "thinned": 0, **_pack(merged)}
        put(connection, readings, _KEY, row)


_CHUNKS = (
    sa.select(readings)
    .where(
        readings.c.session_id == sa.bindparam("session"),
        readings.c.agent_id == sa.bindparam("agent"),
        readings.c.chunk.in_(sa.bindparam("chunks", expanding=True)),
    )
    .with_for_update()
)


def note_limit(connection: Connection, session_id: str, agent_id: str, limit_tokens: int) -> None:
    """Add the limit to readings of a window that were stored before it was known."""
    mine = (readings.c.session_id == session_id) & (readings.c.agent_id == agent_id)
    unknown = sa.update(readings).where(mine, readings.c.limit_tokens.is_(None))
    connection.execute(unknown.values(limit_tokens=limit_tokens))


def list_readings(
    connection: Connection,
    session_id: str,
    agent_id: str,
    first_step: int | None = None,
    last_step: int | None = None,
) -> list[UsedAtStep]:
    """List the readings of one window between two steps, inclusive, oldest first."""
    first, last = first_step or 0, MOST_STEP if last_step is None else last_step
    chunks = readings.c.chunk.between(first // CHUNK, last // CHUNK)
    query = _of_window(session_id, agent_id).where(chunks).order_by(readings.c.chunk)
    found = (one for row in rows(connection, query) for one in _unpack(row))
    return [one for one in found if first <= one.step <= last]


def _of_window(session_id: str, agent_id: str) -> sa.Select[Any]:
    return sa.select(readings).where(*matching(readings, session_id=session_id, agent_id=agent_id))


def at_time(
    connection: Connection, session_id: str, agent_id: str, at_ms: int
) -> UsedAtStep | None:
    """Return the last reading of a window before a time."""
    table, mine = readings.c, _of_window(session_id, agent_id)
    later = mine.where(table.last_ms >= at_ms).order_by(table.chunk).limit(1)
    earlier = mine.where(table.last_ms < at_ms).order_by(table.chunk.desc()).limit(1)
    found = [*rows(connection, earlier), *rows(connection, later)]
    before = [one for row in found for one in _unpack(row) if one.at_ms <= at_ms]
    return before[-1] if before else None


def bounds(connection: Connection, session_id: str, agent_id: str) -> tuple[int, int] | None:
    """Return the first and the last stored step of a window."""
    mine, chunk = _of_window(session_id, agent_id), readings.c.chunk
    first = rows(connection, mine.order_by(chunk).limit(1))
    last = rows(connection, mine.order_by(chunk.desc()).limit(1))
    return (first[0]["body"]["step"][0], last[0]["body"]["step"][-1]) if first and last else None


def trends(connection: Connection, sessions: Iterable[str]) -> dict[tuple[str, str], list[float]]:
    """Return the last shares of the limit for every window of these sessions, by session and
    agent."""
    wanted = sorted(set(sessions))
    found: dict[tuple[str, str], list[float]] = {}
    for start in range(0, len(wanted), 500):
        for row in _last_rows(connection, wanted[start : start + 500]):
            used, limit = row["body"]["used"], row["limit_tokens"]
            line = found.setdefault((row["session_id"], row["agent_id"]), []) if limit else []
            if limit and len(line) < TREND:
                line[:0] = [round(one / limit, 4) for one in used[len(line) - TREND :]]
    return found


def _last_rows(connection: Connection, sessions: list[str]) -> list[Row]:
    """Return the last two rows of each window, the newest first."""
    table = readings.c
    ends = sa.select(table.session_id, table.agent_id, sa.func.max(table.chunk).label("chunk"))
    ends = ends.where(table.session_id.in_(sessions)).group_by(table.session_id, table.agent_id)
    last = ends.subquery()
    same = (table.session_id == last.c.session_id) & (table.agent_id == last.c.agent_id)
    query = sa.select(readings).join(last, same & (table.chunk >= last.c.chunk - 1))
    return rows(connection, query.order_by(table.chunk.desc()))


def thin(steps: Sequence[UsedAtStep], most: int) -> list[UsedAtStep]:
    """Return at most so many readings (at least four): the least and the greatest of each of
    equal stretches, in their order, with the first and the last. A curve that is as many points
    wide looks the same."""
    if len(steps) <= most:
        return list(steps)
    inner, buckets = steps[1:-1], (most - 2) // 2
    kept: list[UsedAtStep] = [steps[0]]
    for n in range(buckets):
        some = inner[len(inner) * n // buckets : len(inner) * (n + 1) // buckets]
        kept += sorted({min(some, key=_used_tokens), max(some, key=_used_tokens)})
    return [*kept, steps[-1]]


def _used_tokens(one: UsedAtStep) -> int:
    return one.used_tokens


def prune(connection: Connection, now_ms: int, held: Collection[str] = ()) -> None:
    """Thin readings older than a day; delete those that are too old, but for the sessions whose
    transcripts are `held`."""
    table = readings.c
    is_gone = table.session_id.not_in(held)
    connection.execute(sa.delete(readings).where(table.last_ms < now_ms - KEPT_MS, is_gone))
    old = sa.select(readings).where(table.last_ms < now_ms - DAY_MS, table.thinned == 0)
    found = rows(connection, old.order_by(table.last_ms).limit(THINNED_AT_ONCE))
    if found:
        mine = sa.and_(*(table[name] == sa.bindparam(f"of_{name}") for name in _KEY))
        connection.execute(
            sa.update(readings).where(mine).values(thinned=1), [_thin_row(row) for row in found]
        )


def _thin_row(row: Row) -> dict[str, Any]:
    kept = thin(list(_unpack(row)), max(4, 2 * row["n"] // BUCKET))
    key = {f"of_{name}": row[name] for name in _KEY}
    return {**key, **_pack({one.step: one[1:3] for one in kept})}


def _pack(steps: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
    """Encode the readings of a row. Times are stored relative to the first: five digits instead
    of thirteen."""
    ordered = sorted(steps.items())
    first_ms = ordered[0][1][0]
    return {
        "n": len(ordered),
        "last_ms": max(at_ms for _, (at_ms, _) in ordered),
        "body": {
            "from_ms": first_ms,
            "step": [step for step, _ in ordered],
            "ms": [at_ms - first_ms for _, (at_ms, _) in ordered],
            "used": [used for _, (_, used) in ordered],
        },
    }


def _steps(row: Row) -> dict[int, tuple[int, int]]:
    return {one.step: (one.at_ms, one.used_tokens) for one in _unpack(row)}


def _unpack(row: Row) -> Iterator[UsedAtStep]:
    body, limit = row["body"], row["limit_tokens"]
    for step, ms, used in zip(body["step"], body["ms"], body["used"], strict=True):
        yield UsedAtStep(step, body["from_ms"] + ms, used, limit)


MOST_MARKS = 1_000  # of each kind, the newest


def alert_marks(connection: Connection, session_id: str, agent_id: str) -> list[dict[str, Any]]:
    """List the alerts of a window, oldest first."""
    mine = (audit.c.session_id == session_id) & (audit.c.kind == PRESSURE)
    whose = sa.func.coalesce(audit.c.agent_id, "") == agent_id
    query = sa.select(audit).where(mine, whose).order_by(audit.c.at_ms.desc()).limit(MOST_MARKS)
    return [_alert(row["at_ms"], row["body"] or {}) for row in reversed(rows(connection, query))]


def _alert(at_ms: int, body: dict[str, Any]) -> dict[str, Any]:
    ratio = body.get("used_ratio")
    return {
        "at_ms": at_ms,
        "level": _word(body.get("level")),
        "zone": _word(body.get("zone")),
        "used_ratio": float(ratio) if isinstance(ratio, int | float) else None,
        "heard": "told the model" in (body.get("done") or ()),
    }


def checkpoint_marks(
    connection: Connection, session_id: str, agent_id: str
) -> list[dict[str, Any]]:
    """List the checkpoints of a window, oldest first."""
    table = agent_contexts.c
    mine = (table.session_id == session_id) & (table.agent_type == SNAPSHOT)
    query = sa.select(table.compact_id, table.updated_ms, table.role_context).where(mine)
    found = rows(connection, query.order_by(table.updated_ms.desc()).limit(MOST_MARKS))
    return [
        {
            "id": row["compact_id"],
            "at_ms": row["updated_ms"],
            "trigger": _word((row["role_context"] or {}).get("trigger")),
        }
        for row in reversed(found)
        if ((row["role_context"] or {}).get("agent_id") or "") == agent_id
    ]


def checkpoints_since(connection: Connection, since_ms: int, project_id: str | None = None) -> int:
    table = agent_contexts.c
    wanted = (table.agent_type == SNAPSHOT) & (table.updated_ms >= since_ms)
    if project_id is not None:
        wanted &= table.project_id == project_id
    return connection.scalar(sa.select(sa.func.count()).where(wanted)) or 0


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
