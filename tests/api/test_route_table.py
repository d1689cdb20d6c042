"""Routes are imported at the first request for their address, and found where they are listed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from holdfast.api.app import ROUTERS, Listed

START = "import sys, holdfast.api.server; print(*(m for m in sys.modules if '.api.routes.' in m))"


@pytest.mark.parametrize("listed", ROUTERS)
def test_every_route_is_below_an_address_of_its_router(listed: Listed) -> None:
    paths = [route.path for route in listed.routes if isinstance(route, APIRoute)]
    assert paths
    found = {"/".join(path.split("/", 3)[:3]) for path in paths}
    assert found == set(listed.addresses)


@pytest.mark.requirement("S1")
def test_the_server_starts_without_any_routes() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_wrong_method_is_told_the_right_ones(api: TestClient) -> None:
    refused = api.put("/api/tasks")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")
    page = api.post("/ui/")
    assert (page.status_code, page.headers["allow"]) == (405, "GET, HEAD")
