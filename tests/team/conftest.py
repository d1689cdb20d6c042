from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.api.app import create
from holdfast.store.store import Store
from holdfast.work.team import Server
from tests.api import live
from tests.api.live import TOKEN, in_thread
from tests.team.fakes import Taking


@pytest.fixture
def server(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """On loopback, with an intake that keeps each deed as a row."""

    def with_intake(opened: Store) -> object:
        app = create(opened)
        app.state.taking = Taking()
        return app

    monkeypatch.setattr(live, "create", with_intake)
    with in_thread(store) as found:
        yield Server(f"http://127.0.0.1:{found.port}", TOKEN)
