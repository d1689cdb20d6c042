"""A dashboard that listens to the server's events, and connects again when the server was killed.

Numbers must rise: no event comes twice. What was in the database when it was last connected, and
is still there, must have come.
"""

from __future__ import annotations

import http.client
import threading
import time
from dataclasses import dataclass, field

import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import events
from torture.board import must
from torture.server import TOKEN, Server

AGAIN_SECONDS = 0.2
ARRIVE_SECONDS = 20


@dataclass(slots=True)
class EventListener:
    server: Server
    seen: list[int] = field(default_factory=list)
    missed: int = 0  # the server said that older ones were deleted
    connections: int = 0
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                self._read_stream()
            except (OSError, ValueError, http.client.HTTPException):
                self._over.wait(AGAIN_SECONDS)

    def _read_stream(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=5)
        last = {"Last-Event-ID": str(self.seen[-1] if self.seen else 0)}
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream", **last}
        try:
            connection.request("GET", "/api/events", headers=headers)
            answer = connection.getresponse()
            self.connections += answer.status == http.client.OK
            while not self._over.is_set() and (line := answer.readline()):
                self._note(line)
        finally:
            connection.close()

    def _note(self, line: bytes) -> None:
        if line.startswith(b"id: "):
            self.seen.append(int(line[4:]))
        self.missed += line.startswith(b"event: missed")

    def end(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(ARRIVE_SECONDS)

    def check(self, store: Store) -> None:
        """While the server runs: what is there arrives, once and in order."""
        wanted = set(store.read(lambda c: list(c.scalars(sa.select(events.c.id)))))
        until = time.monotonic() + ARRIVE_SECONDS
        while wanted - set(self.seen) and time.monotonic() < until:
            time.sleep(0.05)
        lost = wanted - set(self.seen)
        must(not lost or self.missed > 0, f"{len(lost)} of {len(wanted)} events never arrived")
        doubled = len(self.seen) - len(set(self.seen))
        must(doubled == 0, f"{doubled} of {len(self.seen)} events arrived twice")
