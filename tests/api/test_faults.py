"""Servers and databases that are killed, disks that are full: what was acknowledged is there."""

from __future__ import annotations

import random
import signal
import threading
import time
from http.client import HTTPException

import pytest

from holdfast.hub import ids
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import get_project
from tests.api.live import Live, as_process, until

pytestmark = [pytest.mark.requirement("X6"), pytest.mark.slow]


class Writers:
    """Threads that write until they are told to end, and remember what was acknowledged."""

    def __init__(self, live: Live, name: str, threads: int = 4) -> None:
        self.acknowledged: list[str] = []
        self.statuses: set[int] = set()
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, args=(live, f"{name}-{n}")) for n in range(threads)
        ]

    def __enter__(self) -> Writers:
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for one in self._threads:
            one.join()

    def _write(self, live: Live, name: str) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            path = f"/w/{name}/{number}"
            try:
                answer = live.ask("POST", "/api/projects", {"path": path, "name": "x" * 2000})
            except (OSError, ValueError, HTTPException):
                self._over.wait(0.02)
                continue
            self.statuses.add(answer.status)
            if answer.status == 201:
                self.acknowledged.append(path)
            else:
                assert answer.status == 503, answer
                assert answer.json()["error"]
                self._over.wait(0.02)


def _assert_all_there(store_url: str, acknowledged: list[str]) -> None:
    store = Store.open(store_url)
    for path in acknowledged:
        store.read(lambda c, path=path: get_project(c, ids.project_id(path)))  # type: ignore[misc]
    assert all(one.ok for one in check(store.engine)), check(store.engine)
    store.close()


@pytest.mark.requirement("S1")
@pytest.mark.timeout(300)
def test_a_server_killed_while_writing_loses_nothing_it_acknowledged(store_url: str) -> None:
    acknowledged: list[str] = []
    moments = random.Random(11)
    port = 0
    for kill in range(3):  # `make torture` kills it thousands of times
        with as_process(store_url, port=port) as live:
            port = live.port
            with Writers(live, f"kill{kill}") as writers:
                until(lambda n=kill, w=writers: len(w.acknowledged) > n)
                time.sleep(moments.random() / 5)
                live.kill(signal.SIGKILL)
            acknowledged += writers.acknowledged
    assert len(acknowledged) > 5
    _assert_all_there(store_url, acknowledged)
