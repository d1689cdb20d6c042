"""A client of the whole API, gate included, on an empty database of either engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from httpx2 import Response
from pydantic import TypeAdapter
from starlette.routing import Match
from starlette.testclient import TestClient

from holdfast.api.app import ROUTES, create
from holdfast.api.gate import Gate, Rules
from holdfast.api.responses import Database
from holdfast.hub.store.store import Store

TOKEN = "a-token-for-tests"


@pytest.fixture(scope="session")
def app(sqlite_template: Path) -> Iterator[FastAPI]:
    """Routes are made once: they cost more than most tests."""
    store = Store.open(f"sqlite:///{sqlite_template}")
    yield create(store)
    store.close()


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
        client.event_hooks["response"].append(_fits)
        yield client


def _fits(answer: Response) -> None:
    """Whatever a test asks, the answer is as the interface describes it."""
    asked = answer.request
    scope = {"type": "http", "path": asked.url.path, "method": asked.method}
    route = next((route for route in ROUTES if route.matches(scope)[0] is Match.FULL), None)
    if answer.is_success and isinstance(route, APIRoute) and route.response_model:
        answer.read()
        if answer.headers["content-type"] == "application/json":
            TypeAdapter(route.response_model).validate_python(answer.json(), strict=True)
