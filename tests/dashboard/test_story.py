"""Questions that a reader answers by looking, on a machine where agents work and summaries err."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.dashboard.conftest import Visit, at_home, serving
from tests.dashboard.test_pages import Begin

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
def test_no_total_is_cut_off_on_a_small_screen(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.page.set_viewport_size({"width": 1280, "height": 800})
    totals = reader.page.locator("dl.totals")
    totals.get_by_text("checkpoints, ").wait_for()
    assert totals.evaluate("of => of.scrollWidth <= of.clientWidth")


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


@pytest.mark.requirement("U5")
def test_every_page_shows_when_the_last_checkpoint_was_saved(afternoon: Any, visit: Begin) -> None:
    """A later look found nothing new: that is not a later checkpoint."""
    server, sessions = afternoon
    reader = visit(server)
    row = reader.page.locator("tr[data-row]").filter(has_text="Rewrite the invoice matcher")
    on_overview = row.locator(".checkpoint time").get_attribute("title")
    reader.go(f"session/{sessions['ledger']}")
    on_session = reader.page.locator(".facts time").get_attribute("title")
    assert on_overview == on_session


@pytest.mark.requirement("U5")
def test_the_copied_command_names_the_project(afternoon: Any, visit: Begin) -> None:
    server, sessions = afternoon
    reader = visit(server)
    reader.go(f"checkpoints?session={sessions['atlas']}")
    reader.page.locator('button[title*="/atlas\' --load"]').wait_for()


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
def test_checkpoints_of_all_sessions_say_whose_they_are(afternoon: Any, visit: Begin) -> None:
    server, sessions = afternoon
    reader = visit(server)
    reader.go("checkpoints")
    row = reader.page.get_by_role("option").filter(has_text=sessions["atlas"][:8]).first
    row.get_by_text("atlas", exact=True).wait_for()
    row.click()
    shown = reader.page.locator(".pair .mono").first.inner_text()
    assert re.match(r"\d{4}-\d\d-\d\d-\d{6}(-\d+)?(?! UTC)", shown), shown


@pytest.mark.requirement("U5")
def test_a_list_of_checkpoints_that_is_cut_says_so_and_goes_on(
    afternoon: Any, visit: Begin
) -> None:
    server, _ = afternoon
    reader = visit(server)

    def many(route: Any) -> None:
        same = route.request.url.replace("offset=100", "offset=0")
        route.fulfill(json={**route.fetch(url=same).json(), "total": 240})

    reader.page.route("**/api/checkpoints?*limit=100*", many)
    reader.go("checkpoints")
    reader.see("of 240")
    reader.page.get_by_role("button", name="older", exact=True).click()
    reader.see("101 to")
    reader.page.unroute_all(behavior="wait")


@pytest.mark.requirement("U5")
def test_notices_of_the_watcher_are_shown_when_asked_for(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.go("messages")
    board = reader.page.locator("main ol > li")
    board.filter(has_text="match_key may be null").get_by_text("not delivered yet").wait_for()
    assert board.filter(has_text="checkpoint saved").count() == 0
    reader.page.get_by_role("button", name="Show notices of the watcher").click()
    board.filter(has_text="checkpoint saved").first.wait_for()
    board.filter(has_text=re.compile(r"\d{6}(-\d+)? is saved")).first.wait_for()


@pytest.mark.requirement("U5")
def test_a_message_without_a_text_is_shown_by_its_fields(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    content = {"files_changed": 3, "result": "all gauges read"}
    message = {"from_agent": "counter", "topic": "workflow.progress", "content": content}
    assert server.post("/api/messages", message).status == 201
    reader = visit(server)
    reader.go("messages")
    reader.see("files changed: 3")
    reader.see("result: all gauges read")


@pytest.mark.requirement("U5")
def test_totals_are_those_of_the_chosen_project(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    label = reader.page.get_by_text("compactions today", exact=True)
    tile = reader.page.locator("dl.totals > div").filter(has=label).locator("dd")
    tile.get_by_text("2", exact=True).wait_for()
    latest = reader.page.get_by_role("region", name="Latest")
    latest.get_by_text("zone red").first.wait_for()
    reader.page.locator("nav select").select_option(label="orchard")
    tile.get_by_text("0", exact=True).wait_for()
    latest.get_by_text("Nothing has happened yet").wait_for()


@pytest.mark.requirement("U5")
def test_the_log_has_a_button_for_the_audit_and_begins_with_the_newest(
    afternoon: Any, visit: Begin
) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.go("log")
    reader.page.get_by_role("button", name="audit", exact=True).click()
    levels = reader.page.locator("td.level")
    reader.page.wait_for_function(
        "() => [...document.querySelectorAll('td.level')].every(one => one.innerText === 'audit')"
    )
    assert levels.count() > 2
    first, last = (reader.page.locator("td.words").nth(at) for at in (0, -1))
    assert "86.4%" in first.inner_text()
    assert "76.0%" in last.inner_text()


@pytest.mark.requirement("U5")
def test_every_kind_can_be_searched_for(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.go("search?q=tile+renderer+memory&mode=words")
    with reader.page.expect_request("**/api/search?*kind=decision*"):
        reader.page.get_by_role("button", name="decision").click()
    hits = reader.page.get_by_role("listbox", name="Results").get_by_role("option")
    empty = reader.page.get_by_text("Nothing was found")
    hits.or_(empty).first.wait_for()
    assert all(hit.startswith("decision") for hit in hits.all_inner_texts())


@pytest.mark.requirement("U5")
def test_the_meaning_of_a_setting_is_shown_whole(afternoon: Any, visit: Begin) -> None:
    server, _ = afternoon
    reader = visit(server)
    reader.go("settings")
    reader.see("yours: 0.7")
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
    assert reader.page.locator("td.meaning").evaluate_all(cut) == []


@pytest.mark.requirement("U5")
def test_a_phone_shows_the_project_the_checkpoints_and_the_names_of_lanes(
    afternoon: Any, visit: Begin
) -> None:
    server, sessions = afternoon
    reader = visit(server, viewport={"width": 390, "height": 844})
    page = reader.page
    card = page.locator("tr[data-row]").filter(has_text="Move berth pricing")
    card.locator(".narrow-line").get_by_text("checkpoint").wait_for()
    page.locator("header").get_by_role("combobox", name="Project").select_option(label="orchard")
    card.wait_for(state="detached")
    reader.go(f"session/{sessions['atlas']}")
    for name in ("Compactions", "Checkpoints", "Alerts"):
        page.locator(".lane text").get_by_text(name, exact=True).wait_for()
    page.locator(".names").get_by_text("limit").wait_for()


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
    reader.go("search?q=memory&mode=words")
    hit = page.get_by_role("listbox", name="Results").get_by_role("option").first
    hit.get_by_text("in Cut the peak memory").wait_for()
    hit.click()
    assert _is_in_view(page.get_by_role("button", name="Back to the results"))


def _is_in_view(what: Any) -> bool:
    what.wait_for()
    what.page.wait_for_timeout(300)  # until it has scrolled
    box = what.bounding_box()
    return bool(0 <= box["y"] < 844)
