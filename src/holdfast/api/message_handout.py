"""Gives posted messages to the windows of this machine."""

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


class MessageHandout:
    """Hands posted messages to their recipients before the post is answered, so that the next hook
    prints them. If there are very many recipients, the answer does not wait for the last.

    There is one thread: a call takes everything that waits, and the calls behind it find nothing to
    do.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: SimpleQueue[Row] = SimpleQueue()
        self._looked_at, self._has_windows = 0.0, False
        self._thread = ThreadPoolExecutor(1, "holdfast-handing")

    async def hand(self, row: Row) -> None:
        if self._is_nobody_here():
            return  # starting the thread takes longer than the rest of a post
        self._waiting.put(row)
        going = asyncio.get_running_loop().run_in_executor(self._thread, self._hand_all)
        await asyncio.wait([going], timeout=PATIENCE_SECONDS)

    def _is_nobody_here(self) -> bool:
        """Whether this machine has no windows, cached for a moment: each access to the disk
        gives up the thread's turn."""
        now = time.monotonic()
        if now - self._looked_at > LOOK_SECONDS:
            self._looked_at, self._has_windows = now, local_agents.has_windows()
        return not self._has_windows

    def _hand_all(self) -> None:
        going = list[Row]()
        with suppress(Empty):
            while True:
                going.append(self._waiting.get_nowait())
        outboxes.hand_out_posted(self._store, going)
