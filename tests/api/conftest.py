"""A client of the whole API, gate included, on an empty database of either engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from holdfast.api.app import create
from holdfast.api.gate import Gate, Rules
from holdfast.store.store import Store

TOKEN = "a-token-for-tests"


@pytest.fixture
def api(store: Store) -> Iterator[TestClient]:
    app = Gate(create(store), Rules(token=TOKEN))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(
        app, "http://127.0.0.1:3847", headers=headers, raise_server_exceptions=False
    ) as client:
        yield client
