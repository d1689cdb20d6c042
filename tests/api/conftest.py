"""A client of the whole API, gate included, on an empty database of either engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from holdfast.api.app import create
from holdfast.api.database import Database
from holdfast.api.gate import Gate, Rules
from holdfast.store.store import Store

TOKEN = "a-token-for-tests"


@pytest.fixture(scope="session")
def app(sqlite_template: Path) -> FastAPI:
    """Routes are made once: they cost more than most tests."""
    return create(Store.open(f"sqlite:///{sqlite_template}"))


@pytest.fixture
def api(app: FastAPI, store: Store) -> Iterator[TestClient]:
    app.state.database = Database(store)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(
        Gate(app, Rules(token=TOKEN)),
        "http://127.0.0.1:3847",
        headers=headers,
        raise_server_exceptions=False,
    ) as client:
        yield client
