"""Every page, as a reader meets it: filled, by keyboard, live, narrow, and when things go wrong."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_history import a_past_session
from tests.builders import EDGE
from tests.dashboard.conftest import AXE, Visit, at_home, serving
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # a browser on a busy machine
Begin = Callable[..., Visit]

PAGES = {
    "": "Never write into the gauge archive",
    "sessions": "Explain the build",
    "session/tide-session": "Fill over time",
    "compactions": "newest first",
    "compaction/tide-session/1": "not found in the summary",
    "checkpoints": "Copy resume command",
    "work": "Who waits for whom",
    "messages": "New message",
    "search?q=gauge+archive": "best first",
    "budget": "of the brief used",
    "costs": "written to the cache",
    "health": "search index",
    "log": "debug",
    "settings": "zone_orange",
}
SIX = ("", "session/tide-session", "compaction/tide-session/1", "checkpoints", "work", "messages")


def _look_at(reader: Visit, *paths: str) -> None:
    for path in paths:
        reader.go(path)
        reader.see(PAGES[path])
        assert reader.page.get_by_role("alert").count() == 0, path
        reader.judge()
    if not AXE.is_file():
        pytest.skip("NO AXE: the pages are drawn, but nobody judged whether they are accessible")


@pytest.mark.requirement("U5")
def test_six_pages_are_drawn_and_accessible(machine: Any, visit: Begin) -> None:
    server, _ = machine
    _look_at(visit(server), *SIX)


@pytest.mark.nightly
@pytest.mark.requirement("U5")
@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 1440), ("light", 390)])
def test_every_page_is_drawn_and_accessible(
    machine: Any, visit: Begin, theme: str, width: int
) -> None:
    server, _ = machine
    size = {"width": width, "height": 900}
    _look_at(visit(server, color_scheme=theme, viewport=size), *PAGES)


@pytest.mark.requirement("U5")
def test_a_short_answer_shows_its_question_on_every_list(machine: Any, visit: Begin) -> None:
    server, _ = machine
    reader = visit(server)
    words = "yes (to “Shall I draw it, too?”)"
    reader.page.locator("tr[data-row]").filter(has_text=words).wait_for()
    reader.go("sessions")
    reader.page.get_by_role("row").filter(has_text=words).wait_for()
    reader.go("session/calm-session")
    reader.page.locator(".asked").filter(has_text=words).wait_for()


@pytest.mark.requirement("U5")
def test_any_session_is_found_by_its_words_in_the_palette(
    tmp_path: Path, browser: Any, visit: Begin
) -> None:
    """There are more than the hundred that a list holds."""
    with at_home(tmp_path):
        for number in range(102):
            a_past_session(f"s{number:03d}", project=f"/p{number:03d}")
    with serving(tmp_path) as server:
        reader = visit(server)
        until(lambda: server.get("/api/history/sessions").json()["total"] == 102)
        for name in ("000", "101"):
            reader.page.keyboard.press("Control+k")
            typed = reader.page.get_by_role("combobox", name="Search or jump to")
            typed.fill(f"gauge p{name}")
            reader.page.get_by_role("option").filter(has_text=f"s{name}, p{name}").click()
            reader.page.wait_for_url(f"**/session/s{name}")


@pytest.mark.requirement("U5")
def test_a_login_link_is_good_once_and_leaves_the_address(machine: Any, visit: Begin) -> None:
    server, _ = machine
    link = server.post("/api/login/tickets", {}).json()["link"]
    first = visit(server, logged_in=False)
    first.page.goto(link)
    first.see("And the legend")
    assert "ticket" not in first.page.url
    second = visit(server, logged_in=False)
    second.page.goto(link)
    second.page.get_by_role("alert").wait_for()
    assert second.page.get_by_text("And the legend").count() == 0
    third = visit(server, logged_in=False)
    third.page.goto(third.root)
    third.page.get_by_label("Token").wait_for()
    third.page.goto(server.post("/api/login/tickets", {}).json()["link"])  # in the same tab
    third.see("And the legend")
    second.page.get_by_label("Token").fill("wrong")
    second.page.get_by_role("button", name="Log in").click()
    second.see("not the token")
    second.page.get_by_label("Token").fill(server.token)
    second.page.get_by_role("button", name="Log in").click()
    second.see("And the legend")


@pytest.mark.nightly
@pytest.mark.requirement("U5")
def test_a_token_that_is_no_longer_valid_leaves_nothing_on_the_page(
    machine: Any, visit: Begin
) -> None:
    server, _ = machine
    reader = visit(server)
    reader.see("And the legend")
    reader.page.evaluate("() => sessionStorage.setItem('holdfast.token', 'of-yesterday')")
    reader.page.reload()
    reader.see("no longer valid")
    assert reader.page.get_by_text("And the legend").count() == 0
    assert reader.page.evaluate("() => sessionStorage.getItem('holdfast.token')") is None


@pytest.mark.nightly
@pytest.mark.requirement("U5")
def test_a_reading_appears_without_a_reload(machine: Any, visit: Begin) -> None:
    from tests.dashboard.conftest import at_home
    from tests.dashboard.machine import LiveSession

    server, main = machine
    home = main.transcript.parents[3]
    reader = visit(server)
    reader.see("And the legend")
    with at_home(home):
        late = LiveSession(main.transcript.parent, "late-session", main.project, 1)
        late.prompt("A session that began just now")
        late.reaches(int(EDGE * 0.3))
        reader.see("A session that began just now")
        late.reaches(int(EDGE * 0.8))
    row = reader.page.get_by_role("row").filter(has_text="A session that began just now")
    row.get_by_text("80.0%").wait_for()


@pytest.mark.nightly
@pytest.mark.requirement("U5")
def test_everything_is_reached_by_keyboard(machine: Any, visit: Begin) -> None:
    server, _ = machine
    reader = visit(server)
    page = reader.page
    row = page.get_by_role("row").filter(has_text="And the legend")
    row.wait_for()
    while row.get_attribute("aria-selected") != "true":
        page.keyboard.press("j")
    page.keyboard.press("Enter")
    reader.see("Fill over time")
    page.keyboard.press("v")
    page.get_by_role("columnheader", name="Of the limit").wait_for()
    page.keyboard.press("[")
    page.get_by_role("listbox", name="Least found first").wait_for()
    page.keyboard.press("j")
    page.locator("[role=option][aria-selected=true]").first.wait_for()
    for key, heading in (("k", "Checkpoints"), (",", "Settings"), ("o", "Overview")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.get_by_role("heading", name=heading, level=1).wait_for()
    page.get_by_role("link", name="Open", exact=True).first.focus()
    page.keyboard.press("Enter")  # a link with the focus is followed, whatever Enter does elsewhere
    reader.see("Fill over time")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.get_by_role("heading", name="Overview", level=1).wait_for()
    page.keyboard.press("/")
    page.keyboard.type("nothing like this")
    reader.see("No window matches")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    row.wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="All keys").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or jump to").wait_for()
    page.keyboard.type("zone_red")
    page.get_by_role("option", name=re.compile("^setting zone_red")).first.wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Settings", level=1).wait_for()


@pytest.mark.nightly
@pytest.mark.requirement("U5")
@pytest.mark.parametrize("path", ["", "settings", "messages", "log"])
def test_a_whole_word_can_be_typed_into_each_filter(machine: Any, visit: Begin, path: str) -> None:
    server, _ = machine
    reader = visit(server)
    reader.go(path)
    reader.see(PAGES[path])
    box = reader.page.locator("[data-filter]")
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("brief", delay=30)
    assert box.input_value() == "brief"
    reader.page.keyboard.press("Escape")
    box.click()
    reader.page.keyboard.press("End")
    reader.page.keyboard.type("_tokens", delay=30)
    assert box.input_value() == "brief_tokens"
    assert "brief_tokens" in reader.page.url


@pytest.mark.nightly
@pytest.mark.requirement("U5")
def test_hostile_text_stays_text(machine: Any, visit: Begin) -> None:
    server, _ = machine
    server.post(
        "/api/messages",
        {"from_agent": "<b>x</b>", "topic": "workflow.progress", "content": "<script>1</script>"},
    )
    reader = visit(server)
    reader.see("<img src=x onerror=alert(1)>")
    reader.see("⟨202E⟩")
    reader.go("session/odd-session")
    reader.see("<img src=x onerror=alert(1)>")
    reader.go("messages")
    reader.see("<script>1</script>")
    reader.see("<b>x</b>")
    assert reader.page.locator("main img, main script, main b").count() == 0


@pytest.mark.nightly
@pytest.mark.requirement("U5")
def test_the_page_saves_a_checkpoint_verifies_it_and_posts_a_message(
    machine: Any, visit: Begin
) -> None:
    server, _ = machine
    reader = visit(server)
    page = reader.page
    reader.go("session/tide-session")
    page.get_by_role("button", name="Checkpoint", exact=True).click()
    page.get_by_text(re.compile("Saved and verified|Nothing new since")).wait_for()
    reader.go("checkpoints?session=tide-session")
    page.get_by_role("listbox", name="Checkpoints").get_by_role("option").first.wait_for()
    page.get_by_role("button", name="Verify").click()
    reader.see("verified just now")
    reader.go("messages")
    page.get_by_role("button", name="New message").click()
    page.get_by_role("textbox", name="Text").fill("The tables are in place")
    page.get_by_role("button", name="Post").click()
    page.get_by_role("listitem").filter(has_text="The tables are in place").wait_for()


@pytest.mark.nightly
@pytest.mark.requirement("U5")
def test_a_panel_that_fails_fails_alone_and_can_be_tried_again(machine: Any, visit: Begin) -> None:
    server, _ = machine
    reader = visit(server)
    broken = {"status": 503, "json": {"error": "The database does not answer"}}
    reader.page.route("**/readings*", lambda route: route.fulfill(**broken))
    reader.go("session/tide-session")
    reader.see("Readings: The database does not answer")
    reader.see("Your rules and messages")
    reader.page.unroute("**/readings*")
    reader.page.get_by_role("button", name="Try again").click()
    reader.page.get_by_role("button", name="Compaction 1").wait_for()


@pytest.mark.nightly
@pytest.mark.requirement("U5")
@pytest.mark.parametrize("width", [320, 390, 2560])
def test_no_width_needs_sideways_scrolling(machine: Any, visit: Begin, width: int) -> None:
    server, _ = machine
    reader = visit(server, viewport={"width": width, "height": 844})
    for path in ("", "session/tide-session", "compaction/tide-session/1", "settings", "work"):
        reader.go(path)
        reader.see(PAGES[path])
        wide = reader.page.evaluate("() => document.querySelector('main').scrollWidth")
        assert wide <= reader.page.evaluate("() => document.querySelector('main').clientWidth"), (
            path
        )
        rest = "() => document.documentElement.scrollHeight - innerHeight"
        assert reader.page.evaluate(rest) == 0, path
