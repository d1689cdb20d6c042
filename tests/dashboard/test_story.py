"""Questions that a reader answers by looking, on a machine where agents work and summaries err."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.dashboard.conftest import Visit, at_home, serving
from tests.dashboard.test_pages import Begin


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
        "": ["Needs you", "A summary calls open work done", "test-writer has waited for"],
        f"session/{atlas}": ["steps left", "mountains_300mb", "Drop atlases"],
        f"compaction/{atlas}/2": [
            "All memory budget tests pass.",  # what is not true?
            "no message of the user says so",  # what did nobody say?
            "lost by the summary",  # what did the last compaction lose?
            "its last run failed",  # why was this line restored?
        ],
        f"checkpoints?session={atlas}": ["verified", "Copy resume command"],
        "work": ["needs the list of views", "Wave 2", "59 min left"],  # who is blocked by whom?
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
    reader.see("critical alert at 97.3%")
    for level in ("debug", "info", "warning", "alert", "error"):
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


@pytest.mark.requirement("U5")
def test_an_agent_that_waits_has_no_time_left(afternoon: Any, visit: Begin) -> None:
    server, sessions = afternoon
    reader = visit(server)
    rows = reader.page.locator("tr[data-row]")
    waiting = rows.filter(has_text="waits for schema-reader")
    waiting.locator(".forecast strong").wait_for()
    assert waiting.locator(".time-left").count() == 0
    assert rows.filter(has_text="Read every migration").locator(".time-left").count() == 1
    reader.go("work")
    reader.see("waits for test-writer.")
    reader.go(f"session/{sessions['atlas']}")
    reader.see("2 false statements")
