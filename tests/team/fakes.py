"""A source to send from and an intake to send to, small enough to see every deed arrive.

The intake keeps each deed as a row of its own with a random id: one taken twice is there twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.hub import ids
from holdfast.hub.store.rows import upsert
from holdfast.hub.store.tables import audit, positions
from holdfast.wire.errors import HoldfastError

AT_ONCE = 10


class Behind(HoldfastError):
    def __init__(self, position: dict[str, Any]) -> None:
        super().__init__("elsewhere")
        self.position = position


class Taking:
    """What `/api/intake` needs of hub/ingest/sync, on the real table of positions."""

    behind: type[Exception] = Behind

    def read(self, batch: dict[str, Any]) -> dict[str, Any]:
        return batch

    def take(self, connection: Connection, batch: dict[str, Any]) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(7)))
        query = sa.select(positions.c.position).where(positions.c.source == batch["source"])
        stands = connection.scalar(query) or {}
        if stands != batch["since"]:
            raise Behind(stands)
        for deed in batch["deeds"]:
            row = {
                "id": ids.new(),
                "kind": "deed",
                "session_id": batch["source"],
                "at_ms": deed,
            }
            connection.execute(sa.insert(audit).values(row))
        row = {"source": batch["source"], "position": batch["until"], "updated_ms": 1}
        connection.execute(upsert(connection, positions, ["source"], row))


class DiesOnce:
    """At the worst moment: what was sent is written for good, and not yet answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        flag = Path(os.environ["DIE_ONCE"])

        async def last(message: Message) -> None:
            if scope["path"] == "/api/intake" and not flag.exists():
                flag.touch()
                os._exit(9)
            await send(message)

        await self._app(scope, receive, last)


@dataclass(slots=True)
class Source:
    """Numbers to tell, by source; gathered ten at a time."""

    deeds: dict[str, list[int]] = field(default_factory=dict)

    def sources(self) -> Sequence[str]:
        return list(self.deeds)

    def gather(self, source: str, position: dict[str, Any]) -> Any:
        at = int(position.get("at", 0))
        some = self.deeds[source][at : at + AT_ONCE]
        if not some:
            return None
        until = {"at": at + len(some)}
        return SimpleNamespace(source=source, since=position, until=until, deeds=some)

    def encode(self, batch: Any, since: dict[str, Any]) -> bytes:
        return json.dumps({**vars(batch), "since": since, "version": 1}).encode()

    def modified_at(self, source: str) -> float | None:
        return None


def arrived(connection: Connection) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    query = sa.select(audit.c.session_id, audit.c.at_ms).where(audit.c.kind == "deed")
    for source, number in connection.execute(query.order_by(audit.c.at_ms)):
        found.setdefault(str(source), []).append(number)
    return found


def main() -> None:
    """`holdfast`, with this intake in place of the real one."""
    from holdfast.api import app as application
    from holdfast.api import server
    from holdfast.api.gate import Token
    from holdfast.cli.main import main as command
    from holdfast.hub.store.store import Store

    def create(store: Store, token: Token | None = None) -> Any:
        made = application.create(store, token)
        made.state.taking = Taking()
        if "DIE_ONCE" in os.environ:
            made.add_middleware(DiesOnce)
        return made

    server.create = create  # type: ignore[attr-defined]
    command()


if __name__ == "__main__":
    main()
