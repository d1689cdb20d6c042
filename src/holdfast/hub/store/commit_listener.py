"""Hearing of commits of other processes: PostgreSQL tells, SQLite is asked twice a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

from sqlalchemy.engine import Engine

from holdfast.hub.store import pending_writes
from holdfast.wire import log

ASK_SECONDS = 0.5
AGAIN_SECONDS = 1.0


async def pokes(engine: Engine) -> AsyncGenerator[None, None]:
    """One each time something may have been committed; without an end, and never an error."""
    hear = _asked if engine.dialect.name == "sqlite" else _told
    quiet = False
    while True:
        try:
            async for _ in hear(engine):
                quiet = False
                yield
        except Exception as slip:
            if not quiet:
                log.add("WARN", "events", f"cannot hear of other processes: {slip}")
            quiet = True
        await asyncio.sleep(AGAIN_SECONDS)


async def _asked(engine: Engine) -> AsyncGenerator[None, None]:
    """`data_version` moves when another connection commits; asking takes microseconds."""
    connection = await asyncio.to_thread(engine.raw_connection)
    try:
        before = None
        while True:
            now = connection.cursor().execute("PRAGMA data_version").fetchone()
            if now != before:
                before = now
                yield
            await asyncio.sleep(ASK_SECONDS)
    finally:
        connection.close()


async def _told(engine: Engine) -> AsyncGenerator[None, None]:
    import psycopg

    _, options = engine.dialect.create_connect_args(engine.url)
    own = {"connect_timeout": 5, "application_name": "holdfast-events", "autocommit": True}
    connection = await psycopg.AsyncConnection.connect(**{**options, **own})
    try:
        await connection.execute(f"LISTEN {pending_writes.CHANNEL}")
        yield  # whatever came while nobody listened
        async for _ in connection.notifies():
            yield
    finally:
        with suppress(Exception):
            await connection.close()
