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
from sqlalchemy.engine import Connection

from holdfast.store.tables import counts, events, metadata
from holdfast.store.upsert import upsert

CHANNEL = "holdfast_events"
_ORDER_LOCK = 0x401DFA57  # events are numbered in the order of their commits
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


def counted(connection: Connection, noun: str) -> int:
    return connection.scalar(sa.select(counts.c.n).where(counts.c.noun == noun)) or 0


def mark(connection: Connection) -> tuple[int, Counter[str]]:
    """Where a change begins, so that one which is refused leaves no note."""
    info = connection.info
    return len(info.get(_EVENTS, ())), Counter(info.get(_COUNTS, {}))


def back_to(connection: Connection, mark: tuple[int, Counter[str]]) -> None:
    del connection.info.setdefault(_EVENTS, [])[mark[0] :]
    connection.info[_COUNTS] = mark[1]


def clear(connection: Connection) -> None:
    connection.info.pop(_EVENTS, None)
    connection.info.pop(_COUNTS, None)


def settle(connection: Connection) -> None:
    """Write the notes, last thing before the commit."""
    told: list[dict[str, Any]] = connection.info.pop(_EVENTS, [])
    changed: Counter[str] = connection.info.pop(_COUNTS, Counter())
    for noun in sorted(changed):
        if changed[noun]:
            row = {"noun": noun, "n": changed[noun]}
            grown = {"n": counts.c.n + changed[noun]}
            connection.execute(upsert(connection, counts, ["noun"], row, grown))
    if not told:
        return
    if connection.dialect.name == "postgresql":  # listeners hear it at the commit, not before
        lock, poke = sa.func.pg_advisory_xact_lock(_ORDER_LOCK), sa.func.pg_notify(CHANNEL, "")
        connection.execute(sa.select(lock, poke))
    connection.execute(sa.insert(events), told)
