"""How a route uses the database: it reads on another thread and writes in one group with other
requests.

A request is answered in time even if the database hangs: with 503.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from holdfast.hub.errors import Unreachable
from holdfast.hub.store.engine import translate_error
from holdfast.hub.store.store import Store
from holdfast.hub.store.writer import Job, resolve_all

T = TypeVar("T")
ANSWER_SECONDS = 15.0


class Database:
    def __init__(self, store: Store) -> None:
        self.store = store
        self._inbox: _Inbox | None = None

    async def read(self, query: Callable[[Connection], T]) -> T:
        return await self._in_time(asyncio.to_thread(self.store.read, query))

    async def write(self, change: Callable[[Connection], T]) -> T:
        """Write a change. A request that is cancelled before its turn is never written."""
        try:
            return await self._in_time(self._written(change))
        except DBAPIError as error:
            raise translate_error(error) from error

    async def _written(self, change: Callable[[Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        if self._inbox is None or self._inbox.loop is not loop:
            self._inbox = _Inbox(loop)
        done: asyncio.Future[T] = loop.create_future()
        self.store.hand_in(Job(change, done), self._inbox)
        return await done

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


class _Inbox:
    """Wakes the event loop once for all changes that were committed together."""

    __slots__ = ("loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def __call__(self, jobs: list[Job[Any]]) -> None:
        with suppress(RuntimeError):  # the loop has ended, nobody waits any more
            self.loop.call_soon_threadsafe(resolve_all, jobs)


async def _of(request: Request) -> Database:
    found: Database = request.app.state.database
    return found


Db = Annotated[Database, Depends(_of)]
