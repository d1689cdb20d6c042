"""A connection is bounded before its first request: in how long a head may take, and in number.

uvicorn waits for the end of a head as long as the other side likes; a few hundred that never end
theirs would use up every file this process may open, the database's with them. Where there are as
many as may be, a new one takes the place of one that never showed the token: whoever knows it gets
in, however many others hold on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from holdfast.api.gate import KNOWN

HEAD_SECONDS = 30.0
MOST_CONNECTIONS = 600  # of the 1,024 files a process may usually open


class Connection(H11Protocol):
    _late: asyncio.TimerHandle | None = None
    _since = 0.0
    _was_known = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_room()
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_head()

    def on_response_complete(self) -> None:
        self._was_known = self.is_known  # the next request, perhaps here already, has its own scope
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        """The oldest stranger goes, of the address that has the most of them; else this one."""
        others = [cast("Connection", one) for one in self.connections]
        still = [one for one in others if not one.transport.is_closing()]
        if len(still) <= MOST_CONNECTIONS:
            return
        strangers = [one for one in still if one is not self and not one.is_known]
        crowd = Counter(one._address for one in strangers)
        order = sorted(strangers, key=lambda one: (-crowd[one._address], one._since))
        (order[0] if order else self).transport.abort()

    @property
    def is_known(self) -> bool:
        """A request on this connection came with the token."""
        asked = getattr(self, "scope", None) or {}
        return self._was_known or bool(asked.get(KNOWN))

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _expect_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
