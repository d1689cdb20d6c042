"""Messages that were posted here go to whom they are for before the post is answered: the next hook
says them. Those posted while others are on their way go together; where there are very many to be
told, nobody waits for the last of them."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue

from holdfast.hub.board import local_agents, outboxes
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store

PATIENCE_SECONDS = 0.25
LOOK_SECONDS = 0.02


class Handing:
    """One thread: whoever's turn it is takes all that wait, and the rest find nothing to do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: SimpleQueue[Row] = SimpleQueue()
        self._looked_at, self._has_windows = 0.0, False
        self._thread = ThreadPoolExecutor(1, "holdfast-handing")

    async def hand(self, row: Row) -> None:
        if self._is_nobody_here():
            return  # waking the thread takes longer than all the rest of a post
        self._waiting.put(row)
        going = asyncio.get_running_loop().run_in_executor(self._thread, self._hand_all)
        await asyncio.wait([going], timeout=PATIENCE_SECONDS)

    def _is_nobody_here(self) -> bool:
        """Known for a moment: each look at the disk lets another thread have its turn first."""
        now = time.monotonic()
        if now - self._looked_at > LOOK_SECONDS:
            self._looked_at, self._has_windows = now, local_agents.has_windows()
        return not self._has_windows

    def _hand_all(self) -> None:
        going = list[Row]()
        with suppress(Empty):
            while True:
                going.append(self._waiting.get_nowait())
        outboxes.handed(self._store, going)
