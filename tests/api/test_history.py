"""Sessions from before the installation, and what all of them cost."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.api.server import PastReader
from holdfast.cli.main import holdfast_command
from holdfast.hub.ingest import windows
from holdfast.hub.ingest.background import tidy
from holdfast.hub.ingest.sync import read_positions, sync
from holdfast.hub.store.store import Store
from holdfast.session import history
from holdfast.wire import places
from tests.archive.sessions import session_path
from tests.builders import (
    SONNET,
    a_boundary,
    a_prompt,
    a_result,
    a_summary,
    a_transcript,
    an_answer,
)
from tests.contracts.session_script import ScriptedSession
from tests.waiting import until

RULE = "Never write into the gauge archive, only into tide_tables"
ASKED = "Please round every height to whole centimetres"


def a_past_session(session: str = "s9", *more: dict[str, Any], project: str = "/p") -> Path:
    """A session of before the installation, compacted once, whose summary leaves out the rule."""
    lines = (
        a_prompt(f"# Plan: **{RULE}**"),
        an_answer(50_000, id="m1"),
        a_prompt(ASKED),
        an_answer(160_000, id="m2"),
        a_boundary(160_000, 20_000),
        a_summary(f"The user said: “{ASKED}”. Work goes on."),
        an_answer(30_000, id="m3"),
    )
    path = session_path(session, project)
    rows = [{**one, "sessionId": session, "cwd": project} for one in (*lines, *more)]
    return a_transcript(path, *rows)


def _read(store: Store) -> None:
    """Let a server read until nothing is left."""
    reader = PastReader(store)
    reader.start()
    try:
        until(lambda: _is_complete() and _has_rows(store))
    finally:
        reader.stop()
        until(lambda: all(one.name != "holdfast-past" for one in threading.enumerate()))


def _has_rows(store: Store) -> bool:
    sources = windows.past_sources()
    known = read_positions(store, sources)
    return all(known.get(source, {}).get("turns") for source in sources)


def _is_complete() -> bool:
    known = history.load().values()
    return bool(known) and all(
        one.is_read and all(each.is_read for each in one.compactions) for one in known
    )


@pytest.mark.requirement("U5")
def test_sessions_from_before_the_installation_are_listed_and_marked(
    api: TestClient, store: Store
) -> None:
    a_past_session()
    script = ScriptedSession(session_path("s1").parent, "s1", "/p")
    script.prompt("Work with hooks")
    script.call()
    script.note()
    sync(store)
    _read(store)
    found = {one["id"]: one for one in api.get("/api/history/sessions").json()["sessions"]}
    assert {name: one["has_hooks"] for name, one in found.items()} == {"s9": False, "s1": True}
    assert (found["s9"]["title"], found["s9"]["compactions"]) == (RULE, 1)
    assert (found["s9"]["project"], found["s9"]["steps"], found["s9"]["agent"]) == (
        *("p", 3),
        "claude",
    )


@pytest.mark.requirement("U5", "B6")
def test_what_the_last_summaries_left_out_is_told_and_leads_to_the_same_numbers(
    api: TestClient, store: Store
) -> None:
    a_past_session()
    _read(store)
    past = api.get("/api/history").json()
    assert past["progress"] | {"skipped_lines": 0} == {
        "sessions": 1,
        "read": 1,
        "compactions": 1,
        "compared": 1,
        "skipped_lines": 0,
    }
    [one] = past["compactions"]
    assert (one["session_id"], one["number"]) == ("s9", 1)
    assert (one["messages"], one["messages_not_found"]) == (2, 1)
    [row] = api.get("/api/compactions").json()["compactions"]
    page = api.get("/api/compactions/s9/1").json()
    counts = {name: row[name] for name in ("items", "not_found", "restored")}
    assert row["is_read"] and page["counts"] == counts and counts["not_found"] == 1
    assert [item["text"] for item in page["items"] if not item["is_found"]] != []
    today = api.get("/api/today", params={"since": "1970-01-01T00:00:00Z"}).json()
    assert (today["given"], today["restored"]) == (0, row["restored"])  # would be
    assert not row["was_given"] and row["restored"] > 0


@pytest.mark.requirement("U5", "S5")
def test_what_is_old_stays_as_long_as_its_transcript(api: TestClient, store: Store) -> None:
    path = a_past_session()
    _read(store)
    tidy(store)  # all of it is of January
    assert api.get("/api/compactions").json()["total"] == 1
    assert api.get("/api/sessions/s9/readings").json()["total"] == 3
    path.unlink()
    tidy(store)
    assert api.get("/api/compactions").json()["total"] == 0
    assert api.get("/api/sessions/s9/readings").json()["total"] == 0


@pytest.mark.requirement("U5")
def test_sessions_are_found_by_the_words_of_their_title_folder_or_id(
    api: TestClient, store: Store
) -> None:
    a_past_session("s9", project="/work/tide"), a_past_session("s8", project="/work/reef")
    api.post("/api/sessions", json={"id": "far"})
    _read(store)

    def found(words: str) -> set[str]:
        listed = api.get("/api/history/sessions", params={"words": words}).json()["sessions"]
        return {one["id"] for one in listed}

    assert found("GAUGE /work/tide") == {"s9"}
    assert found("s8") == {"s8"} and found("far") == {"far"}
    assert found("nothing of it") == set()
    [row, _] = api.get("/api/compactions").json()["compactions"]
    assert row["title"] == RULE


@pytest.mark.requirement("U5", "W4")
def test_how_full_a_past_session_was_left_is_what_status_says(
    api: TestClient, store: Store
) -> None:
    """Also where text came after the last answer, which nobody has counted yet."""
    path = a_past_session("s9", a_prompt("one more, and " * 400))
    _read(store)
    run = CliRunner().invoke(holdfast_command, ["status", str(path), "--json"])
    shown, terminal = api.get("/api/sessions/s9/state").json(), json.loads(run.stdout)
    assert shown["used_tokens"] == terminal["used_tokens"] > 30_000
    for name in ("edge_tokens", "estimated"):
        assert shown[name] == terminal[name], name


@pytest.mark.requirement("U5")
def test_a_compaction_that_was_not_compared_says_so_and_no_zero(
    api: TestClient, store: Store
) -> None:
    script = ScriptedSession(session_path("s1").parent, "s1", "/p")
    script.prompt("Work with hooks")
    script.call()
    script.compacts()
    sync(store)
    [row] = api.get("/api/compactions").json()["compactions"]
    assert not row["is_read"]
    assert {row[name] for name in ("items", "not_found", "restored")} == {None}
    today = api.get("/api/today", params={"since": "1970-01-01T00:00:00Z"}).json()
    assert (today["compactions"], today["checked"]) == (1, 0)


@pytest.mark.requirement("U5")
def test_tokens_are_added_up_by_day_project_session_and_agent_and_in_money_where_priced(
    api: TestClient, store: Store
) -> None:
    a_past_session("one"), a_past_session("two", project="/q")
    _read(store)
    found = api.get("/api/usage", params={"days": 366}).json()
    assert not found["is_priced"] and found["total"]["cost"] is None
    assert found["total"] == {
        "input": 60,
        "output": 300,
        "cache_read": 2 * (240_000 - 3 * 80),
        "cache_written": 120,
        "cost": None,
        "unpriced": 480_000,
    }
    for name in ("days", "sessions", "projects", "agents", "models"):
        assert sum(row["cache_read"] for row in found[name]) == found["total"]["cache_read"], name
    assert {row["name"] for row in found["projects"]} == {"p", "q"}
    settings = Path(places.home(), "settings.toml")
    settings.write_text(f'prices = "{SONNET} 3 15 0.3 3.75"\n')
    priced = api.get("/api/usage", params={"days": 366}).json()
    cost = (60 * 3 + 300 * 15 + found["total"]["cache_read"] * 0.3 + 120 * 3.75) / 1e6
    assert priced["total"]["cost"] == pytest.approx(cost, abs=1e-4)
    assert priced["total"]["unpriced"] == 0
    of_one = api.get("/api/usage", params={"session_id": "one"}).json()
    assert of_one["total"]["cost"] == pytest.approx(cost / 2, abs=1e-4)
    assert [row["name"] for row in of_one["models"]] == [SONNET]


@pytest.mark.requirement("U5")
def test_a_model_without_a_price_leaves_the_cost_of_the_others_and_is_counted(
    api: TestClient, store: Store
) -> None:
    a_past_session("s9", an_answer(70_000, id="m4", model="model-x", at="2026-01-02T00:00:00Z"))
    _read(store)
    settings = Path(places.home(), "settings.toml")
    settings.write_text(f'prices = "{SONNET} 3 15 0.3 3.75"\n')
    found = api.get("/api/usage").json()
    assert found["total"]["cost"] > 0 and found["total"]["unpriced"] == 70_000
    assert (found["last_day"], found["days"][-1]["cost"]) == ("2026-01-02", None)
    [row] = api.get("/api/history/sessions").json()["sessions"]
    assert row["cost"] is None and row["tokens"] > 70_000


@pytest.mark.requirement("U5")
def test_a_call_counts_once_as_in_the_transcript_even_without_a_result(
    api: TestClient, store: Store
) -> None:
    twice = [an_answer(70_000, id=name, calls=("t1", "t2")) for name in "ab"]
    a_past_session("s9", *twice, a_result("t1"))
    _read(store)
    [row] = api.get("/api/history/sessions").json()["sessions"]
    assert row["calls"] == 2


@pytest.mark.requirement("U5")
def test_how_holdfast_is_names_the_worst_and_what_the_disk_holds(
    api: TestClient, store: Store
) -> None:
    Path(places.home(), "backups").mkdir(parents=True)
    Path(places.home(), "backups", "one").write_bytes(b"x" * 5_000)
    settings = Path(places.user_home(), ".claude", "settings.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"hooks": "python3 /x/holdfast/hook/__main__.py"}')
    found = api.get("/api/machine").json()
    assert {"kind": "backups", "bytes": 5_000, "files": 1} in found["disk"]
    assert (found["level"], found["worst"]) == ("warn", "nobody watches the sessions")
    places.append(f"{places.home()}/guard.log", b"2999-01-01T00:00:00Z ERROR hook it broke\n")
    found = api.get("/api/machine").json()
    assert (found["hooks"]["errors"], found["errors"][0]["message"]) == (1, "it broke")
    assert found["worst"] == "1 error in the log since yesterday"
