from collections.abc import Iterator

import pytest

from holdfast.hub.store.store import Store
from holdfast.hub.team import connection
from holdfast.hub.team.connection import TeamServer
from tests.api.live import TOKEN, in_thread


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no server that does not answer: tests of the limits set their own."""
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 60.0)
    monkeypatch.setattr(connection, "CALL_SECONDS", 60.0)


@pytest.fixture
def server(store: Store) -> Iterator[TeamServer]:
    """On loopback."""
    with in_thread(store) as found:
        yield TeamServer(f"http://127.0.0.1:{found.port}", TOKEN)
