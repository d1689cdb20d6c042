"""A source to send from, small enough to see every record arrive, and a server that dies.

Each record is a line of the audit log with a random id: one that is taken twice is there twice.
"""

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
from holdfast.hub.store.tables import audit
from holdfast.hub.team.forward import LocalSource

AT_ONCE = 10


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


@dataclass
class Source(LocalSource):
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
        deeds = [
            {
                "deed": "audit",
                "id": ids.new(),
                "kind": "deed",
                "session_id": source,
                "at_ms": number,
            }
            for number in some
        ]
        return SimpleNamespace(source=source, since=position, until=until, deeds=deeds)

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
    """`holdfast`, whose server may die once."""
    from holdfast.api import app as application
    from holdfast.api import server
    from holdfast.api.gate import Token
    from holdfast.cli.main import main as command
    from holdfast.hub.store.store import Store

    def create(store: Store, token: Token | None = None) -> Any:
        made = application.create(store, token)
        if "DIE_ONCE" in os.environ:
            made.add_middleware(DiesOnce)
        return made

    server.create = create  # type: ignore[attr-defined]
    command()


if __name__ == "__main__":
    main()
