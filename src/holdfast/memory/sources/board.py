"""Messages between agents, read from the store if there is one.

Without one SQLAlchemy is not imported: that takes 27 times as long as a bare start.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from holdfast.memory import locations
from holdfast.memory.index import engines, sqlite_file
from holdfast.memory.item import MESSAGE, Item, id_of
from holdfast.memory.sources.source import MemorySource, SourceRead, clean
from holdfast.text.fence import agent_name
from holdfast.wire import log, places

KEY = "messages"
MOST = 20_000
_QUERY = (
    "SELECT m.id, m.topic, m.content, m.from_agent, m.created_ms FROM messages m "
    "LEFT JOIN projects p ON p.id = m.project_id "
    "WHERE m.topic NOT IN ({notices}) AND (m.project_id IS NULL OR p.path = {mark}) "
    "ORDER BY m.created_ms DESC, m.id LIMIT {most}"
)


def message_sources(project: str) -> Iterator[MemorySource]:
    """List the messages as a source. The stamp is that of the SQLite file and of its write-ahead
    log."""
    if engines.is_shared():
        yield from _shared(project)
        return
    path = _file()
    stamp = locations.stamp(path) if path else ""
    if stamp:
        yield MemorySource(
            KEY, f"by {stamp} {locations.stamp(path + '-wal')}", partial(_read, path, project)
        )


def _shared(project: str) -> Iterator[MemorySource]:
    """List the messages of the team's database. Their number and the newest time show a change."""
    import sqlalchemy as sa

    query = sa.text("SELECT count(*), max(created_ms) FROM messages")
    count, newest = engines.store().read(lambda c: c.execute(query).one())
    if count:
        yield MemorySource(KEY, f"by-{count}-{newest}", partial(_read_shared, project))


def _read_shared(project: str, _state: str, _give_up: float) -> SourceRead:
    import sqlalchemy as sa

    query = sa.text(_query(":project"))
    rows = engines.store().read(lambda c: c.execute(query, {"project": project}).all())
    return SourceRead([item(row, number) for number, row in enumerate(reversed(rows))], "")


def _query(mark: str) -> str:
    """The newest messages, without notices: a brief has none of them either, and nobody asks for
    them later."""
    from holdfast.brief.shared_work import (
        NOTICES,
    )  # loads a decoder, which most searches do not need

    notices = ", ".join(f"'{topic}'" for topic in NOTICES)
    return _QUERY.format(notices=notices, mark=mark, most=MOST)


def _file() -> str:
    given = os.environ.get(engines.VARIABLE, "")
    if not given:
        return f"{places.home().rstrip('/')}/holdfast.db"
    return given.removeprefix("sqlite:///") if given.startswith("sqlite:///") else ""


def _read(path: str, project: str, _state: str, _give_up: float) -> SourceRead:
    rows: list[Any] = []
    connection = sqlite_file.to_read(path, 1.0)
    try:
        rows = connection.execute(_query("?"), (project,)).fetchall()
    except sqlite3.Error as error:  # old, locked or damaged: everything else can still be searched
        log.add("WARN", "recall", f"{path}: messages were not read: {error}")
    finally:
        connection.close()
    return SourceRead([item(row, number) for number, row in enumerate(reversed(rows))], "")


def item(row: Sequence[Any], number: int) -> Item:
    message_id, topic, content, sender, created_ms = row
    if isinstance(content, str):  # SQLite stores it as text
        with suppress(ValueError):
            content = json.loads(content)
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(created_ms / 1000, UTC).isoformat(timespec="seconds")
    return Item(
        id=id_of(MESSAGE, message_id),
        kind=MESSAGE,
        text=clean(_words(content, topic))[:4_000],
        title=clean(topic),
        position=number,
        by=agent_name(clean(sender)),
        file=f"message {message_id}",
        at=at,
    )


def _words(content: Any, topic: str) -> str:
    """The message in words, then the fields beside it that say something new, one per line."""
    if not isinstance(content, dict):
        return str(content)
    message = str(content.get("message", ""))
    known = f"{topic}\n{message}"
    beside = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in content.items()
        if name != "message" and value and str(value) not in known
    )
    return "\n".join(filter(None, (message, *beside)))
