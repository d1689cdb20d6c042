"""What routes use of the database: reads on another thread, writes one after the other,
and who hears of new rows. A request is answered in time even if the database hangs: with 503.

The event listeners of this process are poked when there may be new events. Each reads and sends at
its own pace, so a slow one delays no other. Commits of other processes poke too: while anybody
listens, the newest event is asked for twice a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy.engine import Connection

from holdfast.hub.board import local_agents, outboxes
from holdfast.hub.errors import Unreachable
from holdfast.hub.store import events
from holdfast.hub.store.engine import translate_driver_errors
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

T = TypeVar("T")
ANSWER_SECONDS = 15.0
ASK_SECONDS = 0.5


class Database:
    def __init__(self, store: Store) -> None:
        self.store = store

    async def read(self, query: Callable[[Connection], T]) -> T:
        return await self._in_time(asyncio.to_thread(self.store.read, query))

    async def write(self, change: Callable[[Connection], T]) -> T:
        """Write a change. A request that is cancelled before its turn is never written."""
        with translate_driver_errors():
            return await self._in_time(_committed(self.store, change))

    async def _in_time(self, answer: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError:
            words = f"the database did not answer in {ANSWER_SECONDS:g} seconds"
            raise Unreachable(words) from None


async def _committed(store: Store, change: Callable[[Connection], T]) -> T:
    return await asyncio.wrap_future(store.submit(change))


async def _of(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


Db = Annotated[Database, Depends(_of)]


MOST_LISTENERS = 100
PAUSE_SECONDS = 0.002  # per listener: a hundred of them look at most five times a second each


class Crowded(HoldfastError):
    """The limit of listeners is reached."""


class Hub:
    def __init__(self, store: Store, most: int = MOST_LISTENERS) -> None:
        self._store = store
        self._most = most
        self._listeners: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._others: asyncio.Task[None] | None = None
        self.stopping = False
        store.changed.append(self.poke)

    def poke(self) -> None:
        """Wake the listeners; may be called from any thread."""
        loop = self._loop
        if loop is not None and self._listeners and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    def has_listeners(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def stop(self) -> None:
        """End every listener, because the server ends."""
        self.stopping = True
        self.poke()

    def expect_room(self) -> None:
        if len(self._listeners) >= self._most:
            raise Crowded(f"{self._most} listen already")

    @property
    def pause_seconds(self) -> float:
        return PAUSE_SECONDS * len(self._listeners)

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[asyncio.Event]:
        """Yield an event that is set whenever there may be something new; it is set at first."""
        self.expect_room()  # check again: many may have joined together
        self._loop = asyncio.get_running_loop()
        poked = asyncio.Event()
        poked.set()
        self._listeners.add(poked)
        if self._others is None:
            self._others = self._loop.create_task(self._hear_others())
        try:
            yield poked
        finally:
            self._listeners.discard(poked)
            if not self._listeners and self._others is not None:
                self._others.cancel()
                self._others = None

    def _wake(self) -> None:
        for poked in self._listeners:
            poked.set()

    async def _hear_others(self) -> None:
        """Ask twice a second whether another process has committed events."""
        last, failed = -1, False
        while True:
            try:
                newest = await asyncio.to_thread(self._store.read, events.newest_id)
                if newest != last:
                    last = newest
                    self._wake()
                failed = False
            except Exception as error:
                if not failed:
                    log.add("WARN", "events", f"cannot hear of other processes: {error}")
                failed = True
            await asyncio.sleep(ASK_SECONDS)


HANDOUT_SECONDS = 0.25


async def hand_out(store: Store, row: Row) -> None:
    """Hand a posted message to its recipients on this machine before the post is answered, so that
    the next hook prints it. If there are very many, the answer does not wait for the last."""
    if local_agents.has_windows():
        going = asyncio.to_thread(outboxes.hand_out_posted, store, [row])
        await asyncio.wait([asyncio.ensure_future(going)], timeout=HANDOUT_SECONDS)
