"""A PostgreSQL that refuses, hangs, is locked or was upgraded: said in time, and then over."""

import os
import signal
from pathlib import Path

import pytest

from holdfast.api import responses
from holdfast.hub.store.store import Store
from tests.api.live import Answered, Live, in_thread, until
from tests.stores import a_postgres

pytestmark = [pytest.mark.requirement("X6"), pytest.mark.nightly]


def _post(live: Live, path: str) -> Answered:
    return live.post("/api/projects", {"path": path})


def _comes_back(live: Live, path: str) -> None:
    until(lambda: _post(live, path).status in (200, 201, 409))


def test_one_that_hangs_is_said_in_time_and_so_is_health(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "ANSWER_SECONDS", 1.0)
    with a_postgres() as postgres:
        store = Store.open(str(postgres.get_uri()))
        with in_thread(store) as live:
            assert _post(live, "/before").status == 201
            stopped = _with_children(int(postgres.get_pid()))
            try:
                _signal(stopped, signal.SIGSTOP)
                for _ in range(10):  # more than there are threads that read
                    assert live.get("/api/projects").status == 503
                assert _post(live, "/hung").status == 503
                assert live.get("/health").status == 503
            finally:
                _signal(stopped, signal.SIGCONT)
            _comes_back(live, "/after")
        store.close()


def _with_children(pid: int) -> list[int]:
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def _signal(pids: list[int], sent: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, sent)
