"""Take the pictures of the documentation: `python -m tests.dashboard.pictures docs/images`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from tests.dashboard import fetch_browser
from tests.dashboard.conftest import at_home, serving
from tests.dashboard.story import tell

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.api.live import Process

SIZE = {"width": 1360, "height": 800}
SETTLE_MS = 4_000  # until curves are drawn and the newest rows have come


def take(folder: Path, home: Path) -> None:
    with at_home(home):
        (home / ".holdfast").mkdir(mode=0o700)
        sessions = tell(home)
    atlas = sessions["atlas"]
    with serving(home) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(fetch_browser.find()),
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
            env={**fetch_browser.environment()},
        )
        light, dark = (_page(browser, server, theme) for theme in ("light", "dark"))
        _shoot(light, "", folder / "dashboard-overview.png")
        _shoot(light, f"compaction/{atlas}/2", folder / "dashboard-compaction.png")
        _shoot(dark, f"session/{atlas}", folder / "dashboard-session.png")
        _shoot(dark, "work", folder / "dashboard-work.png")
        browser.close()


def _page(browser: Browser, server: Process, theme: str) -> Page:
    """Where it is afternoon, so that everything happened today."""
    context = browser.new_context(
        viewport=SIZE,  # type: ignore[arg-type]
        color_scheme=theme,  # type: ignore[arg-type]
        reduced_motion="reduce",
        timezone_id=_afternoon(),
    )
    page = context.new_page()
    page.goto(server.post("/api/login/tickets", {}).json()["link"])
    page.get_by_role("navigation", name="Pages").wait_for()
    return page


def _afternoon() -> str:
    from datetime import UTC, datetime

    hours = 15 - datetime.now(UTC).hour
    ahead = hours - 24 if hours > 12 else hours
    return f"Etc/GMT{-ahead:+d}"  # the signs of these names are turned around


def _shoot(page: Page, path: str, file: Path) -> None:
    page.evaluate("path => { location.hash = path }", f"/{path}")
    page.wait_for_timeout(SETTLE_MS)
    if path.startswith("compaction/"):
        page.locator("[data-row]").nth(2).click()
    page.screenshot(path=str(file))


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith(("HOLDFAST_", "CLAUDE"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="atlas-") as home:
        take(Path(sys.argv[1]), Path(home))
