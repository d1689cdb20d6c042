"""How full a window was at each step, and when it was compacted: what
`/api/sessions/{id}/readings` draws, also days later.

A row holds the readings of 256 steps as lists of numbers, 24 bytes a reading on SQLite. Which row a
step belongs to follows from its number, so that a step reported twice is one reading. After a day a
row keeps the least and the greatest of every 16 steps, and what is older than 30 days goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store.rows import Page, Row, fetch_page, matching, put, rows, upsert
from holdfast.hub.store.tables import compactions, readings

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
    mine = matching(readings, session_id=session_id, agent_id=agent_id)
    held_rows = sa.select(readings).where(*mine, readings.c.chunk.in_(new)).with_for_update()
    before = {row["chunk"]: row for row in rows(connection, held_rows)}
    for chunk, steps in sorted(new.items()):
        held = before.get(chunk)
        merged = {**_steps(held), **steps} if held else steps
        limit = limit_tokens or (held["limit_tokens"] if held else None)
        row = {"session_id": session_id, "agent_id": agent_id, "chunk": chunk}
        row |= {"limit_tokens": limit, "thinned": 0, **_pack(merged)}
        put(connection, readings, _KEY, row)


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
    mine = matching(readings, session_id=session_id, agent_id=agent_id)
    query = sa.select(readings).where(*mine, chunks).order_by(readings.c.chunk)
    found = (one for row in rows(connection, query) for one in _unpack(row))
    return [one for one in found if first <= one.step <= last]


def at_time(
    connection: Connection, session_id: str, agent_id: str, at_ms: int
) -> UsedAtStep | None:
    """Return the last reading of a window before a time."""
    found = list_readings(connection, session_id, agent_id)
    return next((one for one in reversed(found) if one.at_ms <= at_ms), None)


def bounds(connection: Connection, session_id: str, agent_id: str) -> tuple[int, int] | None:
    """Return the first and the last stored step of a window."""
    found = list_readings(connection, session_id, agent_id)
    return (found[0].step, found[-1].step) if found else None


def trends(connection: Connection, sessions: Iterable[str]) -> dict[tuple[str, str], list[float]]:
    """Return the last shares of the limit for every window of these sessions, by session and
    agent."""
    table = readings.c
    ends = sa.select(table.session_id, table.agent_id, sa.func.max(table.chunk).label("chunk"))
    ends = ends.where(table.session_id.in_(set(sessions)))
    last = ends.group_by(table.session_id, table.agent_id).subquery()
    same = (table.session_id == last.c.session_id) & (table.agent_id == last.c.agent_id)
    query = sa.select(readings).join(last, same & (table.chunk >= last.c.chunk - 1))
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows(connection, query.order_by(table.chunk)):
        if limit := row["limit_tokens"]:
            shares = found.setdefault((row["session_id"], row["agent_id"]), [])
            shares += [round(used / limit, 4) for used in row["body"]["used"]]
    return {window: shares[-TREND:] for window, shares in found.items()}


def thin(steps: Sequence[UsedAtStep], most: int) -> list[UsedAtStep]:
    """Return at most so many readings (at least four): the least and the greatest of each of
    equal stretches, in their order, with the first and the last. A curve that is as many points
    wide looks the same."""
    if len(steps) <= most:
        return list(steps)
    used = attrgetter("used_tokens")
    inner, buckets = steps[1:-1], (most - 2) // 2
    kept: list[UsedAtStep] = [steps[0]]
    for n in range(buckets):
        some = inner[len(inner) * n // buckets : len(inner) * (n + 1) // buckets]
        kept += sorted({min(some, key=used), max(some, key=used)})
    return [*kept, steps[-1]]


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


_COMPACTION = ("session_id", "agent_id", "number")


def add_compaction(connection: Connection, row: Row) -> None:
    """Add a compaction; unknown fields of a known one stay as they were."""
    known = {
        name: value for name, value in row.items() if value is not None and name not in _COMPACTION
    }
    connection.execute(upsert(connection, compactions, _COMPACTION, row, known))


def list_compactions(
    connection: Connection,
    limit: int,
    offset: int,
    *,
    project_id: str | None = None,
    session_id: str | None = None,
    since_ms: int = 0,
) -> Page:
    """List compactions, newest first."""
    table = compactions.c
    wanted = matching(compactions, project_id=project_id, session_id=session_id)
    query = sa.select(compactions).where(*wanted, table.at_ms >= since_ms)
    order = (table.at_ms.desc(), table.session_id, table.agent_id, table.number.desc())
    return fetch_page(connection, query.order_by(*order), limit, offset)


def compactions_of(connection: Connection, session_id: str, agent_id: str) -> list[Row]:
    """List the compactions of one window, oldest first."""
    mine = matching(compactions, session_id=session_id, agent_id=agent_id)
    query = sa.select(compactions).where(*mine).order_by(compactions.c.number)
    return rows(connection, query)
