"""Load on `holdfast serve` while it is killed with SIGKILL and some requests are refused: what was
acknowledged and is not there afterwards, and answers that are errors of ours.

    python -m benchmarks.killed_servers 300      # seconds on each engine

Four connections post messages and actions; every tenth request is one that must be refused. The
server is killed four times and started again on the same port.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPException

import sqlalchemy as sa
from tests.api.live import Live, as_process

from benchmarks.api import KINDS, REFUSED
from benchmarks.databases import both
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import actions, messages

Row = tuple[str, str, str]
KILLS = 4
CONNECTIONS = 4
SECONDS = 60.0
TAKEN = {"action": KINDS["POST action"], "message": KINDS["POST message"]}


class Load:
    """What was acknowledged, and how each request was answered."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.over = threading.Event()
        self.port = 0

    def post(self, number: int) -> None:
        chosen = random.Random(number)
        while not self.over.is_set():
            noun = chosen.choice(list(TAKEN))
            path, body = TAKEN[noun]
            if chosen.random() < 0.1:
                path, body, _ = chosen.choice(REFUSED)
            try:
                answer = Live(self.port).ask("POST", path, body)
            except (OSError, HTTPException):
                self.over.wait(0.02)  # the server is being killed, or is not there yet
                continue
            self.statuses[answer.status] += 1
            if answer.status == 201:
                self.ids.append(answer.json()[noun]["id"])


def rows(seconds: float = SECONDS) -> Iterator[Row]:
    with both() as addresses, tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        for engine, address in addresses.items():
            load = Load()
            _run(load, address, seconds, home)
            lost = _lost(address, load.ids)
            failures = sum(many for status, many in load.statuses.items() if status >= 500)
            told = ", ".join(f"{code}: {many:,}" for code, many in sorted(load.statuses.items()))
            yield (
                f"{engine}: {seconds:.0f} s of load, {KILLS} times kill -9 ({told})",
                f"{lost} lost of {len(load.ids):,}, {failures} answers of 500 or above",
                "0, 0",
            )


def _run(load: Load, address: str, seconds: float, home: str) -> None:
    environ = {"HOME": home, "HOLDFAST_HOME": f"{home}/.holdfast"}
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        posts: list[Future[None]] = []
        for life in range(KILLS + 1):
            with as_process(address, port=load.port, environ=environ) as live:
                load.port = live.port
                posts = posts or [pool.submit(load.post, n) for n in range(CONNECTIONS)]
                time.sleep(seconds / (KILLS + 1))
                if life == KILLS:  # the last server answers to the end
                    load.over.set()
                    for post in posts:
                        post.result()


def _lost(address: str, ids: list[str]) -> int:
    store = Store.open(address)
    try:
        assert all(table.ok for table in check(store.engine)), "the database is damaged"
        kept = {*_ids_of(store, actions), *_ids_of(store, messages)}
    finally:
        store.close()
    return len(set(ids) - kept)


def _ids_of(store: Store, table: sa.Table) -> list[str]:
    return store.read(lambda connection: list(connection.scalars(sa.select(table.c.id))))


if __name__ == "__main__":
    for title, figure, wanted in rows(*map(float, sys.argv[1:])):
        print(f"{title:90} {figure:50} {wanted}", flush=True)
