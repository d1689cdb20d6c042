"""Messages that were posted here go to whom they are for before the post is answered: the next hook
says them. Those posted while others are on their way go together; where there are very many to be
told, nobody waits for the last of them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Annotated

from fastapi import Depends, Request

from holdfast.hub.board import outboxes
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store

PATIENCE_SECONDS = 0.25


class Handing:
    """One thread: whoever's turn it is takes all that wait, and the rest find nothing to do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: SimpleQueue[Row] = SimpleQueue()
        self._thread = ThreadPoolExecutor(1, "holdfast-handing")

    async def hand(self, row: Row) -> None:
        self._waiting.put(row)
        going = asyncio.get_running_loop().run_in_executor(self._thread, self._hand_all)
        await asyncio.wait([going], timeout=PATIENCE_SECONDS)

    def _hand_all(self) -> None:
        going = list[Row]()
        with suppress(Empty):
            while True:
                going.append(self._waiting.get_nowait())
        outboxes.handed(self._store, going)


async def _of(request: Request) -> Handing:
    found: Handing = request.app.state.handing
    return found


Hands = Annotated[Handing, Depends(_of)]
