"""A large body holds up nobody else."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from holdfast.api import fields, responses
from holdfast.api.app import ROUTERS
from holdfast.hub.store.store import Store

WAIT_SECONDS = 30
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6a7b8"


def _message(content: Any) -> dict[str, Any]:
    return {"from_agent": "a", "to_agent": "b", "topic": "task.completed", "content": content}


@pytest.mark.requirement("X5")
def test_others_are_answered_while_a_large_body_is_looked_through(
    api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go = threading.Event(), threading.Event()
    order: list[str] = []

    def slowly(given: dict[str, Any]) -> dict[str, Any]:
        began.set()
        go.wait(WAIT_SECONDS)
        return given

    monkeypatch.setattr(fields, "clean_fields", slowly)
    bait = "x" * (responses.LARGE_BYTES + 1)

    def post() -> int:
        answer = api.post("/api/messages", json=_message(bait))
        order.append("large")
        return answer.status_code

    with ThreadPoolExecutor(1) as pool:
        posted = pool.submit(post)
        assert began.wait(WAIT_SECONDS)
        assert api.get("/api/sessions").status_code == 200
        order.append("another")
        go.set()
        assert posted.result(WAIT_SECONDS) == 201
    assert order == ["another", "large"]


@pytest.mark.requirement("X5", "X3")
def test_a_large_body_is_kept_without_its_secrets(api: TestClient, store: Store) -> None:
    words = "x " * responses.LARGE_BYTES + SECRET
    assert api.post("/api/messages", json=_message(words)).status_code == 201
    [kept] = api.get("/api/messages/b").json()["messages"]
    assert kept["content"]["message"].startswith("x x ")
    assert SECRET not in kept["content"]["message"]


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("pad", [0, responses.LARGE_BYTES])
def test_a_large_body_is_refused_in_the_same_words(api: TestClient, pad: int) -> None:
    ignored = {"pad": "x" * pad}
    wrong = api.post("/api/messages", json={**_message("m"), "priority": 99, **ignored})
    assert wrong.status_code == 400
    assert wrong.json()["error"] == "Validation failed"
    assert list(wrong.json()["details"]) == ["priority"]
    headers = {"content-type": "application/json"}
    torn = api.post("/api/messages", content='{"a": "' + "x" * pad, headers=headers)
    assert (torn.status_code, list(torn.json()["details"])) == (400, ["body"])
    deep = "[" * 40_000 + " " * pad + "]" * 40_000
    assert api.post("/api/messages", content=deep, headers=headers).status_code == 400
    listed = api.post("/api/messages", content="[" + " " * pad + "]", headers=headers)
    assert listed.status_code == 400


def test_every_route_with_a_body_takes_large_ones_aside() -> None:
    routes = [route for router in ROUTERS for route in router.routes]
    bodied = [one for one in routes if isinstance(one, APIRoute) and one.body_field is not None]
    assert len(bodied) > 15
    assert [one.path for one in bodied if not isinstance(one, responses.Route)] == []
