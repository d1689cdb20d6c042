"""A real browser on a real server: nothing between the page and the interface is made up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard import fetch_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.api.live import Process

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "src" / "holdfast" / "api" / "dashboard" / "index.html"
AXE = ROOT / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE_MS = 45_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not BUILT.is_file():
        pytest.skip("the dashboard is not built: make dashboard")
    found = fetch_browser.find()
    if found is None:
        pytest.skip("there is no Chromium: make browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = playwright.chromium.launch(
            executable_path=str(found),
            args=options,
            env={**fetch_browser.environment()},
        )
        yield chromium
        chromium.close()


@contextmanager
def at_home(home: Path) -> Iterator[None]:
    """What is written, and what is started, belongs to this home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("HOLDFAST_HOME", str(home / ".holdfast"))
        yield


@contextmanager
def serving(home: Path, port: int = 0) -> Iterator[Process]:
    from tests.api.live import a_url, as_process

    with at_home(home):
        (home / ".holdfast").mkdir(mode=0o700, exist_ok=True)
        with as_process(a_url(home / ".holdfast" / "holdfast.db"), port=port) as server:
            yield server


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, Any]]:
    """Three sessions and a server; what tests add to it does not disturb the others."""
    from tests.dashboard.machine import fill

    home = tmp_path_factory.mktemp("dashboard")
    for name in [name for name in os.environ if name.startswith(("HOLDFAST_", "CLAUDE"))]:
        os.environ.pop(name)
    with at_home(home):
        session = fill(home)
    with serving(home) as server:
        yield server, session


class Visit:
    """One reader: a page that is logged in, and everything that went wrong on it."""

    def __init__(self, context: BrowserContext, server: Process) -> None:
        self.server = server
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("console", self._said)
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._asked)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/"

    def _said(self, message: Any) -> None:
        if "Content Security Policy" in message.text or "Trusted" in message.text:
            self.wrong.append(f"policy: {message.text}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self.root):
            self.wrong.append(f"left the machine: {request.url}")

    def log_in(self) -> None:
        ticket = self.server.post("/api/login/tickets", {}).json()["link"]
        self.page.goto(ticket)
        self.page.get_by_role("navigation", name="Pages").wait_for()

    def go(self, path: str) -> Page:
        self.page.evaluate("path => { location.hash = path }", f"/{path}")
        return self.page

    def see(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def judge(self) -> None:
        """Note what axe finds wrong in the state that is shown."""
        if AXE.is_file():
            found: list[dict[str, Any]] = self.page.evaluate(
                "async () => (await axe.run({resultTypes: ['violations']})).violations"
            )
            where = self.page.url.partition("#")[2]
            named = (f"{where} {one['id']}: {one['nodes'][0]['html'][:200]}" for one in found)
            self.wrong += named


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    contexts: list[BrowserContext] = []
    visits: list[Visit] = []

    def begin(server: Process, *, logged_in: bool = True, **options: Any) -> Visit:
        size = {"width": 1440, "height": 900}
        context = browser.new_context(**{"viewport": size, "reduced_motion": "reduce", **options})
        contexts.append(context)
        if AXE.is_file():
            context.add_init_script(path=str(AXE))
        found = Visit(context, server)
        visits.append(found)
        if logged_in:
            found.log_in()
        return found

    yield begin
    for context in contexts:
        context.close()
    assert [error for one in visits for error in one.wrong] == []
