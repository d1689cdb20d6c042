"""What the dashboard costs: 200 live windows with a million readings, ten people watching.

    python -m benchmarks.dashboard
    python -m benchmarks.dashboard --change    # only the CPU of one change, also on a busy machine

A browser is one of the ten, if there is a Chromium (`make browser`). Five steps a second end
somewhere. An update counts from the line the hook writes until the new number is on the screen.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Connection
from tests.api.live import Process, a_url, as_process
from tests.builders import EDGE
from tests.contracts.session_script import START_MS
from tests.dashboard import fetch_browser
from tests.dashboard.machine import LiveSession

from holdfast.hub import projection
from holdfast.hub.ingest import gather, sync
from holdfast.hub.store.rows import events_since, newest_event
from holdfast.hub.store.store import Store
from holdfast.hub.tree import readings

WINDOWS, READINGS, PROJECTS, VIEWERS = 200, 1_000_000, 10, 10
BUSY_SECONDS, CHANGES_A_SECOND, SETTLE_SECONDS = 30.0, 5, 20.0
LOADS = 7
WARM_UP, CHANGES = 20, 120
BUILT = Path(__file__).parents[1] / "src" / "holdfast" / "api" / "dashboard"
Row = tuple[str, str, str]


def rows() -> Iterator[Row]:
    yield from _sizes()
    yield from change_rows()
    with ExitStack() as stack:
        yield from _measured(stack.enter_context(_own_home()), stack)


@contextmanager
def _own_home() -> Iterator[Path]:
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="holdfast-dashboard-") as folder:
        for name in [name for name in os.environ if name.startswith(("HOLDFAST_", "CLAUDE"))]:
            del os.environ[name]
        os.environ |= {"HOME": folder, "HOLDFAST_HOME": f"{folder}/.holdfast"}
        try:
            yield Path(folder)
        finally:
            os.environ.clear()
            os.environ.update(kept)


def change_rows() -> Iterator[Row]:
    """What one line of a hook costs `serve`, without the sending: CPU time in this process."""
    with _own_home() as home:
        sessions = _sessions(home)
        store = Store.open(a_url(home / ".holdfast" / "holdfast.db"))
        sync.sync(store)
        spent = _changes(store, sessions)
        store.read(_windows)  # reads the transcripts that changed, once
        listed = _cpu_of(lambda: [store.read(_windows) for _ in range(LOADS)]) / LOADS
        store.close()
    parts = ", ".join(f"{name} {1000 * seconds:.1f}" for name, seconds in spent.items())
    whole = f"{1000 * sum(spent.values()):.1f} ms"
    yield "CPU of one change without the sending", f"{whole} ({parts})", ""
    yield f"CPU of a list of {WINDOWS} windows", f"{1000 * listed:.0f} ms", ""


def _changes(store: Store, sessions: list[LiveSession]) -> dict[str, float]:
    """CPU seconds of a change by its parts; the first ones build what is built once."""
    spent = dict.fromkeys(("ingest", "two more looks", "projection", "events"), 0.0)
    followed, heard = projection.follow(store, 0), store.read(newest_event)
    for number in range(WARM_UP + CHANGES):
        if number == WARM_UP:
            spent = dict.fromkeys(spent, 0.0)
        one = random.choice(sessions)
        _step(one)
        look = partial(_look_at, store, one.session)
        spent["ingest"] += _cpu_of(look)
        spent["two more looks"] += _cpu_of(look) + _cpu_of(look)
        spent["projection"] += _cpu_of(partial(projection.follow, store, followed))
        news = partial(events_since, after=heard, limit=500)
        spent["events"] += _cpu_of(partial(store.read, news))
        followed = heard = store.read(newest_event)
    return {name: seconds / CHANGES for name, seconds in spent.items()}


def _look_at(store: Store, session: str) -> None:
    sync.sync(store, gather.sources([session]), refreshes=False)


def _windows(connection: Connection) -> Any:
    found = readings.live(connection, int(time.time() * 1000))
    return readings.describe_windows(connection, found)


def _cpu_of(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _step(one: LiveSession) -> int:
    """Let a session take one more step now; return when, as its hook says it."""
    one.used = min(one.used + random.randint(400, 1_500), EDGE - 1)
    at_ms = int(time.time() * 1000)
    one.now_ms = at_ms - START_MS - 1_000
    one.line("PostToolUse", flags="usage", tool_use_id=f"x{time.monotonic_ns()}", tool="Bash")
    return at_ms


def _sizes() -> Iterator[Row]:
    """Without fonts."""
    files = [path for path in BUILT.rglob("*") if path.suffix in {".js", ".css", ".html"}]
    every = sum(path.stat().st_size for path in files)
    yield "scripts, styles and HTML of all pages", f"{every / 1024:.0f} KB", "≤ 250 KB"


def _measured(home: Path, stack: ExitStack) -> Iterator[Row]:
    sessions = _sessions(home)
    database = a_url(home / ".holdfast" / "holdfast.db")
    _fill(database, [one.session for one in sessions])
    server = stack.enter_context(as_process(database))
    page = _browser(stack)
    heard: dict[tuple[str, int], float] = {}
    for number in range(VIEWERS - (page is not None)):
        threading.Thread(
            target=_listen, args=(server, heard if number == 0 else {}), daemon=True
        ).start()
    if page is not None:
        yield from _loads(page, server)
    time.sleep(SETTLE_SECONDS)
    drawn = _watch_drawing(page) if page is not None else None
    spent, sent = _busy(server, sessions)
    time.sleep(5.0)
    script = sorted(heard[key] - at for key, (at, _) in sent.items() if key in heard)
    yield "a hook's line until its event, p50 / p95", _seconds(script, len(sent)), "p95 ≤ 1 s"
    if drawn is not None:
        lags = _drawing_lags(drawn(), sent)
        yield "a hook's line until it is drawn, p50 / p95", _seconds(lags, len(sent)), "p95 ≤ 1 s"
    watched = f"{VIEWERS} watching, {CHANGES_A_SECOND} changes a second"
    yield f"`serve` with {watched}", f"{spent:.1%} of a core", "≤ 10 %"
    now, most = _memory(server)
    yield "memory of `serve`, then / at most", f"{now} / {most} MB", "≤ 150 MB"


def _sessions(home: Path) -> list[LiveSession]:
    """Live ones, from nearly empty to nearly full."""
    made = []
    for number in range(WINDOWS):
        folder = home / ".claude" / "projects" / f"-p{number % PROJECTS}"
        one = LiveSession(folder, f"s{number:03}", str(home / f"p{number % PROJECTS}"), 5)
        one.prompt(f"Task {number:03} of {WINDOWS}")
        one.reaches(int(EDGE * (0.05 + 0.9 * number / WINDOWS)), 3)
        one.note(used_tokens=one.used, **_saved(one))
        made.append(one)
    return made


def _saved(one: LiveSession) -> dict[str, Any]:
    """So that the watcher does not save 200 windows that all came at once."""
    at_ms = int(time.time() * 1000)
    return {"checkpoint_ms": at_ms, "checkpoint_tokens": one.used, "checkpoint_trigger": "watcher"}


def _fill(database: str, sessions: list[str]) -> None:
    random.seed(1)
    store, now_ms = Store.open(database), int(time.time() * 1000)
    each = READINGS // len(sessions)
    for session in sessions:
        used, script = 20_000, []
        for step in range(1, each + 1):
            used = used + random.randint(100, 3_000) if used < EDGE else 30_000
            script.append((step, now_ms - (each - step) * 9_000, used))
        store.write(lambda c, of=session, all_=script: readings.add(c, of, "", all_, EDGE))  # type: ignore[misc]
    store.close()


def _listen(server: Process, heard: dict[tuple[str, int], float]) -> None:
    with suppress(Exception), server.listening() as stream:
        while True:
            event = stream.event()
            if event["kind"] == "window.changed":
                heard.setdefault((event["session_id"], event["body"].get("at_ms")), time.time())


def _browser(stack: ExitStack) -> Any:
    found = fetch_browser.find()
    if found is None or not (BUILT / "index.html").is_file():
        return None
    from playwright.sync_api import sync_playwright

    chromium = stack.enter_context(sync_playwright()).chromium.launch(
        executable_path=str(found),
        args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        env={**fetch_browser.environment()},
    )
    stack.callback(chromium.close)
    page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    return page


FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
DRAWN = """() => {
  // Rows that are there answer keys and clicks: the time of the first frame that shows one.
  window.__rows = 0;
  const look = () => {
    if (document.querySelector("tr[data-row]")) window.__rows = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def _loads(page: Any, server: Process) -> Iterator[Row]:
    page.goto(server.post("/api/login/tickets", {}).json()["link"])
    page.locator("tr[data-row]").first.wait_for()
    page.add_init_script(f"({DRAWN})()")
    time.sleep(SETTLE_SECONDS)
    painted, usable = [], []
    for _ in range(LOADS):
        page.reload()
        page.locator("tr[data-row]").first.wait_for()
        painted.append(page.evaluate(FIRST_PAINT))
        usable.append(page.evaluate("() => window.__rows"))
        time.sleep(1.0)
    named = f"{WINDOWS} windows, {READINGS:,} readings"
    yield f"first contentful paint, {named}", _of_loads(painted), "≤ 0.3 s"
    yield "rows drawn and usable", _of_loads(usable), "≤ 0.6 s"


def _of_loads(found: list[float]) -> str:
    return f"{statistics.median(found) / 1000:.2f} s (slowest {max(found) / 1000:.2f})"


WATCH_DRAWING = """() => {
  window.__drawn = [];
  new MutationObserver((changes) => {
    const at = Date.now();
    for (const row of new Set(changes.map((one) => one.target.parentElement?.closest("tr"))))
      if (row) window.__drawn.push([row.innerText, at]);
  }).observe(document.querySelector("table"), { subtree: true, characterData: true });
}"""


def _watch_drawing(page: Any) -> Callable[[], list[tuple[str, float]]]:
    """The text of a row each time it changes. Every window is shown, not only the full ones."""
    for name in page.locator("tr.group button").all():
        if name.get_attribute("aria-expanded") == "true":
            name.click()
    page.evaluate(WATCH_DRAWING)
    return lambda: [(text, at / 1000) for text, at in page.evaluate("() => window.__drawn")]


Sent = dict[tuple[str, int], tuple[float, str]]


def _drawing_lags(drawn: list[tuple[str, float]], sent: Sent) -> list[float]:
    lags = []
    for (session, _), (at, percent) in sent.items():
        task = f"Task {session[1:]} "
        seen = [when for text, when in drawn if when >= at and task in text and percent in text]
        lags += [min(seen) - at] if seen else []
    return sorted(lags)


def _busy(server: Process, sessions: list[LiveSession]) -> tuple[float, Sent]:
    """CPU of the server as a share of one core, and what was told when."""
    sent: Sent = {}
    began, cpu = time.monotonic(), _cpu(server)
    while time.monotonic() - began < BUSY_SECONDS:
        one = random.choice(sessions)
        at_ms = _step(one)
        sent[one.session, at_ms] = (time.time(), f"{100 * one.used / EDGE:.1f}%")
        time.sleep(1 / CHANGES_A_SECOND)
    return (_cpu(server) - cpu) / (time.monotonic() - began), sent


def _seconds(lags: list[float], sent: int) -> str:
    if not lags:
        return f"none of {sent} came"
    middle, late = lags[len(lags) // 2], lags[int(len(lags) * 0.95)]
    return f"{middle:.2f} / {late:.2f} s ({len(lags)} of {sent})"


def _cpu(server: Process) -> float:
    assert server.process is not None
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(server: Process) -> tuple[int, int]:
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if " kB" in line}
    return int(found["VmRSS"]) // 1024, int(found["VmHWM"]) // 1024


def main(say: Callable[[str], object] = print) -> None:
    for name, figure, wanted in change_rows() if "--change" in sys.argv[1:] else rows():
        say(f"{name:70} {figure:40} {wanted}")


if __name__ == "__main__":
    main()
