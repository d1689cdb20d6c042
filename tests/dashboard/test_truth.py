"""Sixteen numbers of the page, each beside what the terminal says and what the transcript holds.

The page shows fields of the interface as they are; what is compared here is what it shows.
"""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.api.app import create
from holdfast.cli.main import holdfast_command
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.session import history
from holdfast.watcher.loop import take_lock
from tests.api.live import a_url
from tests.builders import EDGE
from tests.dashboard.conftest import at_home, serving
from tests.dashboard.machine import LiveSession, fill

pytestmark = pytest.mark.slow


@pytest.fixture
def session(store: Store) -> LiveSession:
    found = fill(Path.home())
    sync(store)
    history.update()
    return found


@pytest.fixture
def page(store: Store, session: LiveSession) -> Iterator[Any]:
    with TestClient(create(store)) as client:

        @cache
        def ask(path: str) -> Any:
            answer = client.get(path)
            assert answer.is_success, path
            return answer.json()

        yield ask


def _cli(*words: str) -> Any:
    found = CliRunner().invoke(holdfast_command, [*words, "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def _lines(session: LiveSession) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.transcript.read_text().splitlines()]


def _usages(session: LiveSession) -> list[dict[str, int]]:
    return [one["message"]["usage"] for one in _lines(session) if one["type"] == "assistant"]


@pytest.mark.requirement("U5", "W4")
def test_how_full_a_window_is_agrees(page: Any, session: LiveSession) -> None:
    rows = {one["agent_id"]: one for one in page("/api/context/health")["agents"]}
    shown, terminal = rows[session.session], _cli("status", session.session)
    last = sum(_usages(session)[-1].values())
    readings = page(f"/api/sessions/{session.session}/readings")
    assert shown["used_tokens"] == terminal["used_tokens"]  # 1
    assert readings["used_tokens"][-1] == last  # 2: at the last answer, without what came after
    assert shown["edge_tokens"] == terminal["edge_tokens"] == readings["edge_tokens"] == EDGE  # 3
    assert shown["used_ratio"] == terminal["used_ratio"]  # 4
    for name in ("zone", "ops_left", "ops_left_low", "ops_left_high", "minutes_left"):
        assert shown[name] == terminal[name], name  # 5, 6


@pytest.mark.requirement("U5", "A5")
def test_the_count_of_live_windows_agrees(page: Any, session: LiveSession) -> None:
    found = CliRunner().invoke(holdfast_command, ["watch"], env={"COLUMNS": "160"})
    lines = found.stdout.splitlines()[1:]
    assert len(lines) == len(page("/api/context/health")["agents"])
    assert len(lines) == page("/api/today")["live_windows"] == 3  # 7


@pytest.mark.requirement("U5", "B6", "U8")
def test_what_a_compaction_cost_agrees(page: Any, session: LiveSession) -> None:
    whole = page(f"/api/compactions/{session.session}/1")
    [row] = page("/api/compactions")["compactions"]
    [replayed] = _cli("replay", session.session)["compactions"]
    lost = _cli("lost", session.session)["items"]
    [boundary] = [one for one in _lines(session) if one.get("subtype") == "compact_boundary"]
    stated = boundary["compactMetadata"]
    mark = page(f"/api/sessions/{session.session}/readings")["compactions"][0]
    before = {one["before_tokens"] for one in (whole, row, mark)}
    assert before == {stated["preTokens"], replayed["pre_tokens"]}  # 8
    assert {one["step"] for one in (whole, row, mark)} == {replayed["index"] + 1}  # 9
    counts = {name: row[name] for name in ("items", "not_found", "restored")}
    assert whole["counts"] == counts
    assert counts["items"] == len(lost) == replayed["items"]  # 10
    missing = [one for one in lost if not one["is_found"]]
    assert counts["not_found"] == len(missing) == len(replayed["not_found"]) > 0  # 11
    assert counts["restored"] == len(replayed["restored"])  # 12
    assert whole["parts"]["brief_tokens"] == replayed["brief_tokens"]  # 13


@pytest.mark.requirement("U5", "A1")
def test_calls_messages_and_costs_agree_with_the_transcript(
    page: Any, session: LiveSession
) -> None:
    rows = {one["id"]: one for one in page("/api/history/sessions")["sessions"]}
    row = rows[session.session]
    answers = [one["message"] for one in _lines(session) if one["type"] == "assistant"]
    calls = sum(block["type"] == "tool_use" for one in answers for block in one["content"])
    assert row["calls"] == calls  # 14
    texts = [
        one for one in _lines(session) if isinstance(one.get("message", {}).get("content"), str)
    ]
    typed = [one for one in texts if not one.get("isCompactSummary")]
    assert page(f"/api/sessions/{session.session}/turns")["total"] == len(typed)  # 15
    used = sum(sum(one.values()) for one in _usages(session))
    names = ("input", "output", "cache_read", "cache_written")
    cost = {one["id"]: one for one in page("/api/usage")["sessions"]}[session.session]
    assert row["tokens"] == sum(cost[name] for name in names) == used  # 16


@pytest.mark.requirement("U5", "S2")
def test_ten_readers_at_once_are_told_what_one_is_told(tmp_path: Path) -> None:
    """Everything is in the database before the server starts, and nobody watches: nothing changes
    while they read."""
    with at_home(tmp_path):
        session = fill(tmp_path)
        with closing(Store.open(a_url(tmp_path / ".holdfast" / "holdfast.db"))) as store:
            sync(store)
        history.update()
        watcher = take_lock("alone", 0)
        assert watcher is not None
    name = session.session
    paths = [
        *(f"/api/sessions/{name}/{what}" for what in ("turns", "readings", "state")),
        *(f"/api/compactions/{name}/1", "/api/compactions", "/api/usage", "/api/history/sessions"),
    ]
    with serving(tmp_path) as server:
        alone = {path: server.get(path).body for path in paths}
        assert json.loads(alone[paths[1]])["used_tokens"][-1] == sum(_usages(session)[-1].values())
        with ThreadPoolExecutor(10) as readers:
            asked = [path for _ in range(10) for path in paths]
            told = list(readers.map(lambda path: (path, server.get(path).body), asked))
    assert [path for path, body in told if body != alone[path]] == []
    os.close(watcher)
