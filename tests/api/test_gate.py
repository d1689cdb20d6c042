"""Who may come in, over a real wire."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from holdfast.api.gate import Gate, Rate, Rules
from holdfast.api.responses import Database
from holdfast.hub.store.store import Store
from tests.api.live import TOKEN, Live, in_thread

pytestmark = pytest.mark.requirement("X5")
AUTH = f"Authorization: Bearer {TOKEN}\r\n"


@pytest.fixture(scope="module")
def gate_store(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("gate") / "holdfast.db"
    shutil.copy(sqlite_template, path)
    store = Store.open(f"sqlite:///{path}")
    yield store
    store.close()


@pytest.fixture(scope="module")
def live(gate_store: Store) -> Iterator[Live]:
    with in_thread(gate_store) as server:
        yield server


def _request(head: str, body: bytes = b"", *, method: str = "GET", path: str = "/api/projects",
             host: str = "Host: 127.0.0.1\r\n", auth: str = AUTH) -> bytes:  # fmt: skip
    text = f"{method} {path} HTTP/1.1\r\n{host}{auth}{head}Connection: close\r\n\r\n"
    return text.encode("latin-1") + body


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def _error(answer: bytes) -> str:
    return str(json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"])


@pytest.mark.parametrize("given", ["", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN])
@pytest.mark.parametrize("path", ["/api/projects", "/openapi.json", "/health/x", "//health"])
def test_without_the_token_nothing_is_said(live: Live, given: str, path: str) -> None:
    auth = f"Authorization: {given}\r\n" if given else ""
    answer = live.raw(_request("", path=path, auth=auth))
    assert _status(answer) == 401
    assert b"www-authenticate: Bearer" in answer
    assert _error(answer) == "A bearer token is needed"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "[::1", "127.0.0.2", "a@127.0.0.1"]
)
def test_a_name_that_is_not_ours_is_turned_away(live: Live, host: str) -> None:
    answer = live.raw(_request("", host=f"Host: {host}\r\n"))
    assert _status(answer) in (400, 403)


ELSEWHERE = (
    "Origin: http://evil.example",
    "Origin: null",
    "Origin: http://127.0.0.1:8080",
    "Sec-Fetch-Site: same-site",
    "Referer: http://127.0.0.1.evil.example/",
)


@pytest.mark.parametrize("head", ELSEWHERE)
def test_pages_of_other_origins_are_turned_away(live: Live, head: str) -> None:
    answer = live.raw(_request(f"{head}\r\n"))
    assert _status(answer) == 403
    assert b"access-control" not in answer.lower()


@pytest.mark.parametrize("head", ["Origin: http://127.0.0.1\r\n", "Sec-Fetch-Site: same-origin\r\n",
                                  "Sec-Fetch-Site: none\r\n",
                                  "Referer: http://127.0.0.1/ui\r\n"])  # fmt: skip
def test_our_own_page_is_served_and_no_other_is_invited(live: Live, head: str) -> None:
    answer = live.raw(_request(head))
    assert _status(answer) == 200
    assert b"access-control" not in answer.lower()


TYPES = (
    "",
    "Content-Type: application/x-www-form-urlencoded\r\n",
    "Content-Type: multipart/form-data; boundary=x\r\n",
)
SAVE = json.dumps({"session_id": "s", "trigger": "monitor"}).encode()


def _save(head: str, auth: str = AUTH, body: bytes = SAVE) -> bytes:
    head += f"Content-Length: {len(body)}\r\n"
    return _request(head, body, method="POST", path="/api/compact/save", auth=auth)


@pytest.mark.parametrize("kind", TYPES)
def test_a_json_body_of_a_script_is_read_whatever_its_type_is_called(live: Live, kind: str) -> None:
    """curl calls it a form unless told otherwise; older scripts do not look at the answer."""
    assert _status(live.raw(_save(kind))) == 201
    large = SAVE.replace(b"}", b', "context_summary": "%s"}' % (b"x " * 40_000))
    assert _status(live.raw(_save(kind, body=large))) == 201
    answer = live.raw(_save(kind, body=b"session_id=s"))
    assert _status(answer) == 400
    assert _error(answer) == "Validation failed"


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("head", [{"Origin": "null"}, {"Referer": "http://evil.example/form"}])
def test_a_form_of_another_page_writes_nothing_even_where_no_token_is_asked(
    app: FastAPI, store: Store, kind: str, head: dict[str, str]
) -> None:
    app.state.database = Database(store)
    given = {"Content-Type": kind} if kind else {}
    with TestClient(Gate(app, Rules(token=None)), "http://127.0.0.1:3847") as client:
        refused = client.post("/api/compact/save", content=SAVE, headers={**given, **head})
        assert refused.status_code == 403
        assert not client.get("/api/compact/snapshot/s").json()["exists"]
        taken = client.post("/api/compact/save", content=SAVE, headers=given)
        assert taken.status_code == 201


@pytest.mark.parametrize(
    "head",
    [
        "Host: evil.example\r\n",
        f"Authorization: Bearer {TOKEN}\r\n",
        "Origin: http://127.0.0.1\r\nOrigin: http://127.0.0.1\r\n",
        "Content-Length: 0\r\nContent-Length: 9\r\n",
    ],
)
def test_a_header_told_twice_is_refused(live: Live, head: str) -> None:
    assert _status(live.raw(_request(head))) == 400


@pytest.mark.parametrize("length", ["5242881", "9" * 18, "9" * 5000])
def test_a_body_announced_too_long_is_refused_unread(live: Live, length: str) -> None:
    answer = live.raw(_request(f"Content-Length: {length}\r\n", method="POST"))
    assert _status(answer) in (400, 413)
    assert b"connection: close" in answer.lower()


def _chunked(body: bytes, size: int = 1 << 16) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def test_a_body_without_a_length_is_counted_as_it_comes(live: Live) -> None:
    head = "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
    fits = json.dumps({"path": "/w/chunked", "name": "x", "more": "x" * 900_000}).encode()
    answer = live.raw(_request(head, _chunked(fits), method="POST"))
    assert _status(answer) == 201
    answer = live.raw(_request(head, _chunked(b'{"path": "' + b"x" * (6 << 20)), method="POST"))
    assert _status(answer) in (0, 413), answer[:300]  # 0: we were cut off while still sending


def test_callers_are_held_to_a_rate_and_told_when_to_come_again() -> None:
    rate = Rate(per_second=2, burst=3)
    assert [rate.wait_seconds("a", 10.0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert rate.wait_seconds("b", 10.0) == 0
    assert rate.wait_seconds("a", 10.5) == 0
    assert rate.wait_seconds("a", 10.5) == 0.5


def test_behind_a_proxy_the_caller_is_whom_the_proxy_saw(gate_store: Store) -> None:
    """It has the store of the other server here: both have the same application."""
    rules = Rules(token=TOKEN, per_second=0.001, burst=1, behind_proxy=True)
    with in_thread(gate_store, rules) as live:
        told = ["9.9.9.9", "1.1.1.1, 9.9.9.9", "9.9.9.9, 1.1.1.1"]
        asked = [live.get("/api/projects", X_Forwarded_For=one).status for one in told]
        assert asked == [200, 429, 200]


def test_an_empty_token_is_no_open_door() -> None:
    with pytest.raises(ValueError, match="empty token"):
        Gate(lambda *_: None, Rules(token=""))  # type: ignore[arg-type]


def test_a_request_with_two_lengths_is_refused_and_the_connection_closed(live: Live) -> None:
    head = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    request = _request(head, b"0\r\n\r\nGET /health HTTP/1.1\r\n\r\n", method="POST")
    answer = live.raw(request.replace(b"Connection: close\r\n", b""))
    assert _status(answer) == 400
    assert answer.count(b"HTTP/1.1 ") == 1
