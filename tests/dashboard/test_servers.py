"""Servers that are empty, crowded, or gone."""

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.conftest import Visit, at_home, serving

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]  # a browser on a busy machine
Begin = Callable[..., Visit]


def _filled(home: Path) -> AbstractContextManager[Any]:
    from tests.dashboard.machine import fill

    with at_home(home):
        fill(home)
    return serving(home)


@pytest.mark.requirement("U5")
def test_an_empty_machine_says_what_to_do_first(tmp_path: Path, visit: Begin) -> None:
    with serving(tmp_path) as server:
        reader = visit(server)
        reader.see("No session is running")
        reader.see("holdfast install")
        for path, words in (
            ("compactions", "No compaction yet"),
            ("checkpoints", "No checkpoint yet"),
            ("messages", "No message yet"),
            ("sessions", "No session is known"),
        ):
            reader.go(path)
            reader.see(words)
            reader.judge()


@pytest.mark.requirement("U5")
def test_a_fresh_installation_shows_what_past_summaries_left_out(
    tmp_path: Path, visit: Begin
) -> None:
    from tests.api.test_history import RULE, a_past_session

    with at_home(tmp_path):
        a_past_session("one"), a_past_session("two", project="/q")
    with serving(tmp_path) as server:
        reader = visit(server)
        words = "2 of your 4 messages with enough words are not in the summaries"
        reader.see(f"Your last 2 compactions: {words}")
        reader.judge()
        reader.page.get_by_role("link").filter(has_text=RULE[:20]).first.click()
        reader.see("would be restored")
        items = reader.page.get_by_role("listbox", name="Least found first")
        items.get_by_role("option").filter(has_text=RULE).get_by_text("not found").wait_for()
        reader.judge()
        reader.go("health")
        reader.see("no hook of Holdfast is installed; run holdfast install")
        reader.go("sessions?least_compactions=3")
        reader.see("No session fits")
        reader.page.get_by_role("button", name="Clear the filters").click()
        reader.page.get_by_text("without hooks").nth(1).wait_for()
        reader.judge()


@pytest.mark.requirement("U5")
def test_a_server_that_stands_still_is_noticed_and_every_page_still_opens(
    tmp_path: Path, visit: Begin
) -> None:
    with _filled(tmp_path) as server:
        reader = visit(server, logged_in=False)
        with reader.page.expect_response("**/Settings-*.js"):  # the last page is here, too
            reader.log_in()
        reader.see("And the legend")
        assert server.process is not None
        server.process.send_signal(signal.SIGSTOP)
        try:
            reader.page.get_by_text("No answer since").wait_for(timeout=20_000)
            reader.judge()
            for path, heading in (("costs", "Costs"), ("search", "Search"), ("log", "Log")):
                reader.go(path)
                reader.page.get_by_role("heading", name=heading, level=1).wait_for()
        finally:
            server.process.send_signal(signal.SIGCONT)


@pytest.mark.requirement("U5")
def test_two_hundred_windows_are_folded_into_groups(tmp_path: Path, visit: Begin) -> None:
    from tests.dashboard.machine import crowd

    with at_home(tmp_path):
        crowd(tmp_path, 200)
    with serving(tmp_path) as server:
        reader = visit(server)
        reader.page.locator(".totals dd").filter(has_text="200 windows").wait_for()
        reader.judge()
        shown = reader.page.locator("tr[data-row]").count()
        assert 0 < shown < 100  # what is orange or red
        assert reader.page.get_by_role("complementary").get_by_text("Needs you").is_visible()
        reader.page.get_by_role("button", name="p3").click()
        reader.page.get_by_role("row").filter(has_text="Task 003 of the crowd").wait_for()


@pytest.mark.requirement("U5")
def test_a_server_that_is_gone_leaves_the_numbers_and_is_found_again(
    tmp_path: Path, visit: Begin
) -> None:
    with _filled(tmp_path) as server:
        port = server.port
        reader = visit(server)
        reader.see("And the legend")
        reader.page.get_by_text("Live", exact=True).wait_for()
    reader.see("No answer since")
    reader.judge()
    assert reader.page.get_by_text("And the legend").count() > 0
    with serving(tmp_path, port):
        reader.page.get_by_role("button", name="Now").click()
        reader.page.get_by_text("Live", exact=True).wait_for()
        reader.page.get_by_text("No answer since").wait_for(state="detached")


@pytest.mark.requirement("U5")
def test_what_a_server_that_is_gone_did_not_tell_is_unknown_and_what_it_told_stays(
    tmp_path: Path, visit: Begin
) -> None:
    with _filled(tmp_path) as server:
        message = {"from_agent": "a", "topic": "workflow.progress", "content": "Tables are drawn"}
        server.post("/api/messages", message)
        reader = visit(server)
        reader.see("And the legend")
        reader.page.route("**/api/claims*", lambda route: route.abort())
        reader.go("work")
        reader.see("Claims: not known, the server does not answer")
        assert reader.page.get_by_text("Nothing is claimed").count() == 0
        reader.go("messages")
        reader.see("Tables are drawn")
        reader.go("")
        reader.see("And the legend")
    reader.see("do not need this server")
    reader.go("messages")
    reader.see("Tables are drawn")


@pytest.mark.requirement("U5")
def test_a_session_whose_transcript_is_gone_still_shows_what_was_asked(
    tmp_path: Path, visit: Begin
) -> None:
    from tests.dashboard.machine import RULE, fill

    with at_home(tmp_path):
        main = fill(tmp_path)
    with serving(tmp_path) as server:
        reader = visit(server)
        reader.see("And the legend")
        main.transcript.unlink()
        reader.go(f"session/{main.session}")
        turns = reader.page.get_by_role("region", name="Turns")
        turns.get_by_text("not there any more").wait_for()
        turns.get_by_text(RULE).wait_for()
        turns.get_by_text("Now draw the tables").click()
        assert turns.locator("[aria-expanded=true]").count() == 1
