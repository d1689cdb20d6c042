"""What a route may do with the database: read on another thread, write together with the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from holdfast.store.slips import named
from holdfast.store.store import Store

T = TypeVar("T")


class Database:
    def __init__(self, store: Store) -> None:
        self.store = store

    async def read(self, query: Callable[[Connection], T]) -> T:
        return await asyncio.to_thread(self.store.read, query)

    async def write(self, change: Callable[[Connection], T]) -> T:
        try:
            return await asyncio.wrap_future(self.store.submit(change))
        except DBAPIError as slip:
            raise named(slip) from slip


async def _of(request: Request) -> Database:
    found: Database = request.app.state.database
    return found


Db = Annotated[Database, Depends(_of)]
