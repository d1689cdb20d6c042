"""Questions that a reader answers by looking, on a machine where agents work and summaries err."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.dashboard.conftest import Visit, at_home, serving
from tests.dashboard.test_pages import Begin
from tests.waiting import until

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]  # a browser on a busy machine


@pytest.fixture(scope="module")
def afternoon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, dict[str, str]]]:
    from tests.dashboard.story import tell

    home = tmp_path_factory.mktemp("afternoon")
    with at_home(home):
        (home / ".holdfast").mkdir(mode=0o700)
        sessions = tell(home)
    with serving(home) as server:
        yield server, sessions


def _is_seen(reader: Visit, text: str) -> None:
    """It is there, and needs no scrolling."""
    found = reader.page.get_by_text(text).first
    found.wait_for()
    box = found.bounding_box()
    assert box is not None and box["y"] + box["height"] <= 900, text


@pytest.mark.requirement("U5")
def test_ten_questions_are_answered_without_scrolling(afternoon: Any, visit: Begin) -> None:
    server, sessions = afternoon
    reader = visit(server)
    first = reader.page.locator("tr[data-row]").first
    first.get_by_text("Move berth pricing").wait_for()  # which session compacts next?
    reader.see("of your")  # what past summaries left out stays while sessions are live
    assert reader.page.get_by_role("region", name="Your last compactions").is_visible()
    atlas = sessions["atlas"]
    for path, texts in {
        "": ["test-writer has waited for", "1 setting not used"],  # who waits; is it healthy?
        "sessions": ["Cut the peak memory", "Explain and fix the flaky login"],  # asked in X
        f"session/{atlas}": [
            *("steps left", "mountains_300mb", "Drop atlases"),
            *("glyph_run.rs", "Never touch data/raw"),  # which files changed; which rules hold?
            "Is the mountain set the same one",  # what did this session do?
        ],
        f"compaction/{atlas}/2": [
            "not found in the summary",  # what does the last summary leave out?
            "said by the user",  # why was this line restored?
        ],
        f"checkpoints?session={atlas}": ["verified", "Copy resume command"],
        "work": ["needs the list of views", "Wave 2", "59 min left"],  # who is blocked by whom?
        "costs": ["read from the cache", "tokens per day", "Cache read"],  # what did it cost?
        "health": ["search index", "free"],  # how much disk does it take?
        "settings": ["yours: 0.7", "check_interval = 'often'"],  # where does this come from?
    }.items():
        reader.go(path)
        for text in texts:
            _is_seen(reader, text)


@pytest.mark.requirement("U5")
def test_a_search_result_leads_to_its_turn(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.go("search?q=second+run+use+more+memory&mode=words")
    hit = reader.page.get_by_role("option").filter(has_text="Why did the second run")
    hit.first.click()
    reader.page.get_by_role("button", name="Go to the turn").click()
    turn = reader.page.locator("[data-row][aria-expanded=true]")
    turn.filter(has_text="Why did the second run use more memory").wait_for()


@pytest.mark.requirement("U5")
def test_the_log_is_told_in_words_and_narrowed_by_level(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.go("log")
    reader.see("compaction 2: ")
    reader.see("critical alert, zone red at 97.3%")
    for level in ("debug", "info", "warning", "alert", "error", "audit"):
        reader.page.get_by_role("button", name=level, exact=True).click()
        reader.page.locator(f"[aria-pressed=true]:text-is('{level}')").wait_for()
        reader.page.locator("[role=log], .empty").first.wait_for()
        assert reader.page.get_by_role("alert").count() == 0, level


@pytest.mark.requirement("U5")
def test_a_project_narrows_every_page_and_stays(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.see("Explain and fix the flaky login test")
    reader.page.locator("nav select").select_option(label="orchard")
    reader.see("Upgrade the linter")
    reader.page.get_by_text("Explain and fix the flaky login test").wait_for(state="detached")
    reader.page.get_by_role("link", name="Sessions").click()
    reader.see("Find out why staging")
    assert reader.page.get_by_text("Move berth pricing").count() == 0


def _idle_for_18_minutes(route: Any) -> None:
    agents = route.fetch().json()["agents"]
    then = datetime.now(UTC) - timedelta(minutes=18)
    route.fulfill(json={"agents": [{**one, "updated_at": then.isoformat()} for one in agents]})


@pytest.mark.requirement("U5")
def test_an_agent_that_waits_or_is_idle_has_no_time_left(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    rows = reader.page.locator("tr[data-row]")
    waiting = rows.filter(has_text="waits for schema-reader")
    waiting.locator(".time-left").get_by_text("blocked", exact=True).wait_for()
    busy = rows.filter(has_text="Move berth pricing").locator(".time-left")
    assert busy.inner_text().endswith(("min", "a minute"))
    reader.page.route("**/api/context/health*", _idle_for_18_minutes)
    reader.page.reload()
    reader.page.locator(".time-left").get_by_text("idle for 18 min").first.wait_for()
    assert re.fullmatch(r"idle for \d+ min", busy.inner_text())
    waiting.locator(".time-left").get_by_text("blocked", exact=True).wait_for()
    reader.page.unroute_all(behavior="wait")
    reader.go("work")
    reader.see("waits for test-writer.")


FIRST, NEWEST = "Cut the peak memory of the tile renderer", "Use an arena for glyph runs"


@pytest.mark.requirement("U5")
def test_a_session_has_one_name_on_every_page(afternoon: Any, visit: Begin) -> None:
    """By its first request; the newest stands beside it."""
    server, sessions = afternoon
    reader = visit(server)
    row = reader.page.locator("tr[data-row]").filter(has_text=FIRST)
    row.get_by_text(NEWEST).first.wait_for()
    for path in ("sessions", "compactions", f"session/{sessions['atlas']}"):
        reader.go(path)
        reader.page.locator("main, header").get_by_text(FIRST).first.wait_for()
    reader.see("Asked last")
    reader.page.get_by_role("button", name="Copy resume command").wait_for()


@pytest.mark.requirement("U5")
def test_a_tap_on_a_phone_leads_to_the_details_and_back(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server, viewport={"width": 390, "height": 844})
    page = reader.page
    reader.go("settings")
    row = page.get_by_role("row").filter(has_text="zone_orange").first
    row.click()
    assert _is_in_view(page.locator("#chosen h2").filter(has_text="zone_orange"))
    page.get_by_role("button", name="Back to the list").click()
    assert _is_in_view(row)
    found = "/api/search?q=memory&keyword=true"
    until(lambda: server.get(found).json()["is_whole"])  # then the list does not grow any more
    reader.go("search?q=memory&mode=words")
    hit = page.get_by_role("listbox", name="Results").get_by_role("option").first
    hit.get_by_text("in Cut the peak memory").wait_for()
    hit.click()
    assert _is_in_view(page.get_by_role("button", name="Back to the results"))


def _is_in_view(what: Any) -> bool:
    """Scrolling takes its time, on a busy machine more of it."""
    what.wait_for()
    until(lambda: 0 <= what.bounding_box()["y"] < 844)
    return True
