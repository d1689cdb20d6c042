"""Schemathesis over the whole interface: no 500, and every answer as it is described."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, assume, given, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from holdfast.api.app import ROUTES, create
from holdfast.hub.store.store import Store

pytestmark = [pytest.mark.requirement("S2", "X7"), pytest.mark.nightly]
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
ENDLESS = "/api/events"  # a stream does not end; tests/api/test_events.py listens to it
OPERATIONS = [
    (path, method)
    for route in ROUTES
    if isinstance(route, APIRoute) and (path := route.path_format) != ENDLESS
    for method in sorted(route.methods or ())
]


# `/api/context/health` is a route of its own, and no agent is called so.
FIXED = frozenset(path.rpartition("/")[2] for path, _ in OPERATIONS)


@pytest.fixture(scope="module")
def interface(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("schema") / "holdfast.db"
    path.write_bytes(sqlite_template.read_bytes())
    store = Store.open(f"sqlite:///{path}")
    yield schemathesis.openapi.from_asgi("/openapi.json", create(store))
    store.close()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_breaks_the_server_or_its_description(
    interface: Any, path: str, method: str
) -> None:
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=interface[path][method].as_strategy())
    def holds(case: Case[Any]) -> None:
        assume(FIXED.isdisjoint(map(str, (case.path_parameters or {}).values())))
        case.validate_response(case.call(), checks=list(CHECKS))

    holds()
