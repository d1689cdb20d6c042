"""What routes use of the database: reads on another thread, writes in one group with others,
and who hears of new rows. A request is answered in time even if the database hangs: with 503.

The event listeners of this process are poked when there may be new events. Listeners at the same
position share one read, and each sends at its own pace, so a slow one delays no other. Commits of
other processes poke too: PostgreSQL notifies, and SQLite is polled twice a second.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError

from holdfast.hub.board import local_agents, outboxes
from holdfast.hub.errors import Unreachable
from holdfast.hub.store.engine import translate_error
from holdfast.hub.store.events import CHANNEL
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

T = TypeVar("T")
ANSWER_SECONDS = 15.0


class Database:
    def __init__(self, store: Store) -> None:
        self.store = store

    async def read(self, query: Callable[[Connection], T]) -> T:
        return await self._in_time(asyncio.to_thread(self.store.read, query))

    async def write(self, change: Callable[[Connection], T]) -> T:
        """Write a change. A request that is cancelled before its turn is never written."""
        try:
            return await self._in_time(_committed(self.store, change))
        except DBAPIError as error:
            raise translate_error(error) from error

    async def _in_time(self, answer: Coroutine[Any, Any, T]) -> T:
        if self.store.outgrown is not None:
            answer.close()
            raise self.store.outgrown
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError:
            words = f"the database did not answer in {ANSWER_SECONDS:g} seconds"
            raise Unreachable(words) from None


async def _committed(store: Store, change: Callable[[Connection], T]) -> T:
    return await asyncio.wrap_future(store.submit(change))


async def _of(request: Request) -> Database:
    found: Database = request.app.state.database
    return found


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
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}
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

    async def read_once(self, what: Hashable, read: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what `read` finds since the last poke, read once for all listeners that ask for
        the same. Ten listeners that each read for themselves took a third of the server's time."""
        found: asyncio.Task[T] | None = self._reads.get(what)
        if found is None:
            found = self._reads[what] = asyncio.ensure_future(read())
            found.add_done_callback(lambda task: self._forget_failed(what, task))
        return await asyncio.shield(
            found
        )  # a listener that leaves does not cancel it for the others

    def _forget_failed(self, what: Hashable, task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._reads.pop(what, None)

    def _wake(self) -> None:
        self._reads = {}
        for poked in self._listeners:
            poked.set()

    async def _hear_others(self) -> None:
        async with aclosing(pokes(self._store.engine)) as notices:
            async for _ in notices:
                self._wake()


ASK_SECONDS = 0.5
AGAIN_SECONDS = 1.0


async def pokes(engine: Engine) -> AsyncGenerator[None, None]:
    """Yield each time something may have been committed; this never ends and never raises."""
    hear = _poll_sqlite if engine.dialect.name == "sqlite" else _wait_for_postgres
    quiet = False
    while True:
        try:
            async for _ in hear(engine):
                quiet = False
                yield
        except Exception as error:
            if not quiet:
                log.add("WARN", "events", f"cannot hear of other processes: {error}")
            quiet = True
        await asyncio.sleep(AGAIN_SECONDS)


async def _poll_sqlite(engine: Engine) -> AsyncGenerator[None, None]:
    """Yield when `data_version` changes: another connection has committed. A query takes
    microseconds."""
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


async def _wait_for_postgres(engine: Engine) -> AsyncGenerator[None, None]:
    import psycopg

    _, options = engine.dialect.create_connect_args(engine.url)
    own = {"connect_timeout": 5, "application_name": "holdfast-events", "autocommit": True}
    connection = await psycopg.AsyncConnection.connect(**{**options, **own})
    try:
        await connection.execute(f"LISTEN {CHANNEL}")
        yield  # something may have come while nobody listened
        async for _ in connection.notifies():
            yield
    finally:
        with suppress(Exception):
            await connection.close()


HANDOUT_SECONDS = 0.25
LOOK_SECONDS = 0.02


class MessageHandout:
    """Hands posted messages to their recipients on this machine before the post is answered, so
    that the next hook prints them. If there are very many recipients, the answer does not wait for
    the last. There is one thread: a call takes everything that waits.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: SimpleQueue[Row] = SimpleQueue()
        self._looked_at, self._has_windows = 0.0, False
        self._thread = ThreadPoolExecutor(1, "holdfast-handing")

    async def hand(self, row: Row) -> None:
        if not self._has_recipients():
            return  # starting the thread takes longer than the rest of a post
        self._waiting.put(row)
        going = asyncio.get_running_loop().run_in_executor(self._thread, self._hand_all)
        await asyncio.wait([going], timeout=HANDOUT_SECONDS)

    def _has_recipients(self) -> bool:
        """Whether this machine has windows, cached for a moment: each access to the disk gives up
        the thread's turn."""
        now = time.monotonic()
        if now - self._looked_at > LOOK_SECONDS:
            self._looked_at, self._has_windows = now, local_agents.has_windows()
        return self._has_windows

    def _hand_all(self) -> None:
        going = list[Row]()
        with suppress(Empty):
            while True:
                going.append(self._waiting.get_nowait())
        outboxes.hand_out_posted(self._store, going)
