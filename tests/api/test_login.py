"""A link logs one browser in, once; the page's files are open, and every answer has its policy."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from holdfast.api import login
from holdfast.api.app import join_pages
from holdfast.api.gate import Gate, Rules
from holdfast.api.login import Tickets
from holdfast.settings import secret_file
from tests.api.live import a_url, as_process, run
from tests.waiting import PATIENCE_SECONDS

TOKEN = "a-token-for-tests"
POLICY = "content-security-policy"


@pytest.fixture
def stranger(app: FastAPI, api: TestClient) -> Iterator[TestClient]:
    """A browser that knows no token, at a server that asks for one."""
    before, app.state.tickets = app.state.tickets, Tickets(TOKEN)
    yield TestClient(Gate(app, Rules(token=TOKEN)), "http://127.0.0.1:3847")
    app.state.tickets = before


@pytest.mark.requirement("X5", "U5")
def test_a_ticket_is_traded_for_the_token_once(api: TestClient, stranger: TestClient) -> None:
    made = api.post("/api/login/tickets")
    assert made.status_code == 201
    ticket = made.json()["ticket"]
    assert made.json()["link"] == f"http://127.0.0.1:3847/ui/#/login?ticket={ticket}"
    first = stranger.post("/api/login", json={"ticket": ticket})
    assert (first.status_code, first.json()) == (200, {"token": TOKEN})
    again = stranger.post("/api/login", json={"ticket": ticket})
    assert again.status_code == 401 and "used already" in again.json()["error"]
    assert stranger.post("/api/login", json={"ticket": "made up"}).status_code == 401
    assert stranger.post("/api/login", json={}).status_code == 400


@pytest.mark.requirement("X5", "U5")
def test_a_ticket_is_good_for_a_time_and_only_so_many_are_out(
    api: TestClient, stranger: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = api.post("/api/login/tickets").json()["ticket"]
    for _ in range(login.MOST_TICKETS):
        newest = api.post("/api/login/tickets").json()["ticket"]
    assert stranger.post("/api/login", json={"ticket": old}).status_code == 401
    assert stranger.post("/api/login", json={"ticket": newest}).status_code == 200
    monkeypatch.setattr(login, "GOOD_SECONDS", 0.0)
    late = api.post("/api/login/tickets").json()["ticket"]
    assert stranger.post("/api/login", json={"ticket": late}).status_code == 401


@pytest.mark.requirement("X5", "U5")
def test_without_the_token_there_is_no_ticket_and_no_data(stranger: TestClient) -> None:
    for path in ("/api/projects", "/openapi.json", "/api/login/x", "/uix", "/ui.json"):
        assert stranger.get(path).status_code == 401
    assert stranger.post("/api/login/tickets").status_code == 401
    assert stranger.post("/ui/").status_code == 401
    other = {"Origin": "http://127.0.0.1:9999"}
    assert stranger.post("/api/login", json={"ticket": "t"}, headers=other).status_code == 403


@pytest.mark.requirement("X5", "U5")
def test_every_answer_carries_the_policy(api: TestClient, stranger: TestClient) -> None:
    answers = [
        api.get("/api/projects"),
        api.get("/api/nowhere"),
        stranger.get("/api/projects"),
        stranger.get("/", follow_redirects=False),
        stranger.get("/ui/"),
        stranger.get("/ui/none.js"),
        stranger.get("/health"),
    ]
    for answer in answers:
        assert "script-src 'self'" in answer.headers[POLICY]
        assert "unsafe" not in answer.headers[POLICY]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert (answers[3].status_code, answers[3].headers["location"]) == (307, "/ui/")


def _served(tmp_path: Path) -> TestClient:
    folder = tmp_path / "dashboard"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Holdfast</title>")
    (folder / "assets" / "app-1a2b.js").write_text("console.log(1)")
    (tmp_path / "outside.txt").write_text("no")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    app = FastAPI()
    join_pages(app, folder)
    return TestClient(Gate(app, Rules(token=TOKEN)), "http://127.0.0.1:3847")


@pytest.mark.requirement("U5")
def test_files_are_served_to_a_browser_that_comes_from_anywhere(tmp_path: Path) -> None:
    client = _served(tmp_path)
    page = client.get("/ui/", headers={"Sec-Fetch-Site": "cross-site"})
    assert page.status_code == 200 and "Holdfast" in page.text
    assert page.headers["cache-control"] == "no-cache"
    script = client.get("/ui/assets/app-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert script.text == "console.log(1)" and "immutable" in script.headers["cache-control"]
    assert script.headers["content-type"].startswith("text/javascript")


@pytest.mark.requirement("U5", "X5")
@pytest.mark.parametrize(
    "path", ["../outside.txt", "%2e%2e/outside.txt", "link.txt", "assets", "a%00b"]
)
def test_nothing_outside_of_the_folder_is_served(tmp_path: Path, path: str) -> None:
    answer = _served(tmp_path).get(f"/ui/{path}")
    assert answer.status_code in (401, 404) and answer.text != "no"


@pytest.mark.requirement("U5", "X5")
def test_ui_asks_a_running_server_for_a_link_and_leaves_it_running(tmp_path: Path) -> None:
    with as_process(a_url(tmp_path / "a.db"), given_token=False) as live:
        found = run("ui", "--port", str(live.port), "--no-open")
        assert found.returncode == 0, found.stderr
        link = found.stdout.strip()
        assert re.fullmatch(rf"http://127\.0\.0\.1:{live.port}/ui/#/login\?ticket=\S+", link)
        ticket = link.partition("ticket=")[2]
        answer = live.post("/api/login", {"ticket": ticket}, Authorization="")
        live.token = answer.json()["token"]
        assert live.get("/api/projects").status == 200
        again = run("ui", "--port", str(live.port), "--no-open")
        assert again.stdout.startswith("http://") and again.stdout.strip() != link
        other = {"HOLDFAST_API_TOKEN": "another-token-than-that-one"}
        refused = run("ui", "--port", str(live.port), environ=other)
        assert refused.returncode == 5 and "token" in refused.stderr


@pytest.mark.requirement("U5", "X5")
def test_a_stranger_on_the_port_is_told_no_token_and_gives_no_link() -> None:
    link = b'{"link": "http://127.0.0.1:1/"}'
    reply = b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s" % (len(link), link)
    told: list[bytes] = []
    secret_file.read_or_create(login.token_file())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        login.lock_file(port).touch()  # as a server that was killed leaves it
        thread = threading.Thread(target=_overhear, args=(listener, reply, told))
        thread.start()
        with pytest.raises(login.NoLink, match="no Holdfast of yours"):
            login.running_link(port)
        thread.join()
    assert told == [b""]


def _overhear(listener: socket.socket, reply: bytes, told: list[bytes]) -> None:
    listener.settimeout(PATIENCE_SECONDS)
    with listener.accept()[0] as wire, suppress(OSError):
        wire.settimeout(PATIENCE_SECONDS)
        told.append(wire.recv(65536))
        wire.sendall(reply)
