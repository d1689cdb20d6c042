"""What a transaction did, told at its end: events for listeners, and how many rows there are.

Counting a million rows takes longer than writing one, so counts are kept; and one row per group of
writes is touched for them, at the very end, so that writers hardly wait for each other.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection

from holdfast.store.tables import counts, events, metadata
from holdfast.store.upsert import added_up, upsert

CHANNEL = "holdfast_events"
_ORDER_LOCK = 0x401DFA57  # events are numbered in the order of their commits
_TELL = sa.insert(events)
# One way there and back instead of four. Counts first, then the lock, then the numbers.
_AT_ONCE = sa.text(
    """
    WITH grown AS (
        INSERT INTO counts (noun, n)
        SELECT noun, n FROM jsonb_to_recordset(:grown) AS new (noun text, n bigint) ORDER BY noun
        ON CONFLICT (noun) DO UPDATE SET n = counts.n + excluded.n RETURNING noun
    ), told AS (
        INSERT INTO events (kind, project_id, session_id, body, at_ms)
        SELECT kind, project_id, session_id, body, at_ms
        FROM (SELECT pg_advisory_xact_lock(:lock + 0 * count(*)) FROM grown) AS in_order, ROWS FROM
            (jsonb_to_recordset(:told) AS
                (kind text, project_id text, session_id text, body jsonb, at_ms bigint))
            WITH ORDINALITY AS new (kind, project_id, session_id, body, at_ms, position)
        ORDER BY position RETURNING id
    )
    SELECT pg_notify(:channel, '') FROM told LIMIT 1
    """
).bindparams(
    sa.bindparam("grown", type_=JSONB),
    sa.bindparam("told", type_=JSONB),
    sa.bindparam("lock", type_=sa.BigInteger),
)
_EVENTS, _COUNTS = "holdfast_events", "holdfast_counts"


def announce(
    connection: Connection,
    kind: str,
    body: dict[str, Any] | None = None,
    *,
    project_id: str | None = None,
    session_id: str | None = None,
    at_ms: int | None = None,
) -> None:
    """Listeners hear of it once the transaction is through."""
    row = {
        "kind": kind,
        "project_id": project_id,
        "session_id": session_id,
        "body": body or {},
        "at_ms": int(time.time() * 1000) if at_ms is None else at_ms,
    }
    connection.info.setdefault(_EVENTS, []).append(row)


def count(connection: Connection, noun: str, by: int = 1) -> None:
    connection.info.setdefault(_COUNTS, Counter())[noun] += by


def recount(connection: Connection, nouns: Iterable[str]) -> None:
    """After rows went with the row they belonged to: count again, exactly."""
    for noun in nouns:
        table = metadata.tables[noun]
        connection.info.setdefault(_COUNTS, Counter()).pop(noun, None)
        n = connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
        connection.execute(upsert(connection, counts, ["noun"], {"noun": noun, "n": n}))


def forget(connection: Connection, nouns: Iterable[str]) -> None:
    """Nobody asks for these counts any more."""
    gone = list(nouns)
    for noun in gone:
        connection.info.setdefault(_COUNTS, Counter()).pop(noun, None)
    connection.execute(sa.delete(counts).where(counts.c.noun.in_(gone)))


def counted(connection: Connection, noun: str) -> int:
    return connection.scalar(sa.select(counts.c.n).where(counts.c.noun == noun)) or 0


def mark(connection: Connection) -> tuple[int, Counter[str]]:
    """Where a change begins, so that one which is refused leaves no note."""
    info = connection.info
    return len(info.get(_EVENTS, ())), Counter(info.get(_COUNTS, {}))


def back_to(connection: Connection, mark: tuple[int, Counter[str]]) -> None:
    del connection.info.setdefault(_EVENTS, [])[mark[0] :]
    connection.info[_COUNTS] = mark[1]


def silence(connection: Connection, mark: tuple[int, Counter[str]]) -> None:
    """Nobody hears of what was done since, but it is counted."""
    del connection.info.setdefault(_EVENTS, [])[mark[0] :]


def clear(connection: Connection) -> None:
    connection.info.pop(_EVENTS, None)
    connection.info.pop(_COUNTS, None)


def settle(connection: Connection) -> None:
    """Write the notes, last thing before the commit."""
    told: list[dict[str, Any]] = connection.info.pop(_EVENTS, [])
    changed: Counter[str] = connection.info.pop(_COUNTS, Counter())
    grown = [{"noun": noun, "n": changed[noun]} for noun in sorted(changed) if changed[noun]]
    if told and connection.dialect.name == "postgresql":
        given = {"grown": grown, "told": told, "lock": _ORDER_LOCK, "channel": CHANNEL}
        connection.execute(_AT_ONCE, given)
        return
    if grown:
        connection.execute(added_up(connection.dialect.name, counts, ("noun",), "n"), grown)
    if told:
        connection.execute(_TELL, told)
