"""How a route uses the database: it reads on another thread and writes in one group with other
requests.

A request is answered in time even if the database hangs: with 503.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from holdfast.hub.errors import Unreachable
from holdfast.hub.store.engine import translate_error
from holdfast.hub.store.store import Store

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
