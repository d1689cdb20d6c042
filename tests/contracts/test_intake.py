"""The tree fills itself, exactly once, from what hooks and the client leave on the disk."""

import json
import random
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from holdfast.hub import ids
from holdfast.hub.ingest import gather, records
from holdfast.hub.ingest.sync import StalePosition, ingest_batch, read_positions, sync
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import requests, tasks
from holdfast.hub.tree import waves
from holdfast.hub.tree.sessions import project_figures
from holdfast.wire import places
from tests.contracts.session_script import START_MS, ScriptedSession, emptied, rows_of


def _only(store: Store, table: str) -> dict[str, Any]:
    [row] = rows_of(store, table)[table]
    return row


def _checked_sums(store: Store) -> None:
    """Figures and sums are what counting gives."""
    found = rows_of(store)
    for project in found["projects"]:
        _, stats = store.read(partial(project_figures, project_id=project["id"]))
        asked = {row["id"] for row in found["requests"] if row["project_id"] == project["id"]}
        listed = {row["id"] for row in found["tasks"] if row["request_id"] in asked}
        parts = [row for row in found["subtasks"] if row["task_id"] in listed]
        script = (stats["total_requests"], stats["total_tasks"], stats["total_subtasks"])
        assert script == (len(asked), len(listed), len(parts))
    for session in found["sessions"]:
        mine = [row for row in found["actions"] if row["session_id"] == session["id"]]
        timed = [row["duration_ms"] for row in mine if row["duration_ms"] is not None]
        failed = sum(row["exit_code"] != 0 for row in mine)
        assert session["total_tools_used"] == len(mine)
        assert (session["total_errors"], session["total_success"]) == (failed, len(mine) - failed)
        assert (session["timed_actions"], session["total_duration_ms"]) == (len(timed), sum(timed))
    for context in found["agent_contexts"]:
        mine = [
            row["tool_name"]
            for row in found["actions"]
            if row["session_id"] == context["session_id"]
            and (row["agent_id"] or row["session_id"]) == context["agent_id"]
        ]
        if context["agent_type"] != "compact-snapshot":
            assert context["role_context"]["tool_counts"] == dict(Counter(mine))


@pytest.mark.requirement("A1", "A6", "S1")
def test_a_session_is_a_tree_without_anybody_writing_one(store: Store, tmp_path: Path) -> None:
    script = ScriptedSession(tmp_path)
    script.starts()
    script.prompt("Build the tide tables, please")
    script.lists("read the gauge file", 1)
    script.ticks(1, "in_progress")
    script.works("a1")
    script.call("Edit", {"file_path": "/p/tide/tide.py"}, took_ms=12)
    script.call("Bash", {"command": "make test"}, "Exit code 2\nboom", failed=True)
    script.ticks(1, "completed")
    script.says("The tables are there.")
    script.ends()
    script.note()
    sync(store)

    project, session = _only(store, "projects"), _only(store, "sessions")
    assert (project["id"], project["path"]) == (ids.project_id("/p/tide"), "/p/tide")
    assert (session["id"], session["project_id"]) == ("s1", project["id"])
    assert session["started_ms"] == START_MS + 1_000
    assert session["ended_ms"] == session["seen_ms"] == START_MS + script.now_ms
    request = _only(store, "requests")
    assert (request["prompt"], request["status"]) == ("Build the tide tables, please", "completed")
    task = _only(store, "tasks")
    assert (task["name"], task["status"], task["wave_number"], task["request_id"]) == (
        *("read the gauge file", "completed", 1),
        request["id"],
    )
    [wave] = store.read(lambda c: waves.of_session(c, "s1"))
    assert (wave["wave_number"], wave["status"]) == (1, "completed")
    subtask = _only(store, "subtasks")
    assert (subtask["task_id"], subtask["agent_id"]) == (task["id"], "a1")
    assert (subtask["description"], subtask["agent_type"]) == ("look at the code", "reviewer")
    assert subtask["status"] == "completed"
    actions = {row["tool_name"]: row for row in rows_of(store)["actions"]}
    assert actions["Edit"]["file_paths"] == ["/p/tide/tide.py"]
    assert (actions["Edit"]["exit_code"], actions["Edit"]["duration_ms"]) == (0, 12)
    assert (actions["Bash"]["exit_code"], actions["Bash"]["input"]) == (2, "make test")
    assert (actions["Read"]["agent_id"], actions["Read"]["subtask_id"]) == ("a1", subtask["id"])
    assert actions["Agent"]["tool_type"] == "agent"
    contexts = {row["agent_id"]: row for row in rows_of(store)["agent_contexts"]}
    assert contexts["s1"]["tools_used"][0] == "TaskUpdate"
    assert (contexts["s1"]["status"], contexts["a1"]["status"]) == ("completed", "completed")
    assert contexts["s1"]["progress_summary"] == "The tables are there."
    assert _only(store, "windows")["health"]["zone"] == "green"
    _checked_sums(store)


@pytest.mark.requirement("A1")
def test_the_spool_alone_tells_of_calls_and_the_transcript_adds_to_the_same_row(
    store: Store, tmp_path: Path
) -> None:
    script = ScriptedSession(tmp_path)
    failed = script.call(failed=True, transcript=False, took_ms=77)
    sync(store)
    action = _only(store, "actions")
    assert (action["tool_name"], action["exit_code"], action["duration_ms"]) == ("Bash", 1, 77)
    script.call("Bash", {"command": "make"}, "Exit code 3", failed=True, hook=False, use_id=failed)
    sync(store)
    assert _only(store, "actions") == {
        **action,
        "input": "make",
        "keywords": ["make"],
        "exit_code": 3,
        "created_ms": START_MS + 2_000,
    }
    _checked_sums(store)


@pytest.mark.requirement("A1", "X4")
def test_secrets_odd_characters_and_floods_do_not_get_in(store: Store, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    script = ScriptedSession(tmp_path)
    script.prompt(f"use {token} and \x00 and \ud83d " + "long words " * 2_000)
    script.call("Bash", {"command": f"curl -H 'Authorization: Bearer {token}' x\x00\ud83d"})
    script.call("Write", {"file_path": "/p/\ud83d.txt", "content": "x" * 100_000})
    script.call("mcp__tide\x00__read", {"deep": [[[[1]]]], "n": 1e300})
    sync(store)
    found = rows_of(store)
    text = json.dumps(found)
    assert token not in text
    assert "\\u0000" not in text
    assert "\\ud83d" not in text
    assert len(found["requests"][0]["prompt"]) == 8_000
    assert max(len(row["input"]) for row in found["actions"]) <= 2_000
    assert {row["tool_type"] for row in found["actions"]} == {"builtin", "mcp"}


@pytest.mark.requirement("A1", "A4")
def test_a_batch_is_taken_once_and_one_from_elsewhere_is_refused(
    store: Store, tmp_path: Path
) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    script.call()
    [source, *_] = gather.sources()
    first = gather.gather(source, {})
    assert first is not None
    assert records.decode(records.encode(first)) == first
    assert store.write(lambda c: ingest_batch(c, first)).actions == 1
    before = rows_of(store)
    with pytest.raises(StalePosition) as error:
        store.write(lambda c: ingest_batch(c, first))
    assert error.value.position == first.until
    assert rows_of(store) == before
    assert gather.gather(source, first.until) is None


@pytest.mark.requirement("A1")
def test_what_was_edited_later_is_not_undone(store: Store, tmp_path: Path) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    script.lists("first", 1)
    sync(store)
    late = START_MS + 10_000_000
    done = {"status": "completed", "completed_ms": late}
    store.write(lambda c: c.execute(sa.update(tasks).values(done)))
    store.write(lambda c: c.execute(sa.update(requests).values(done)))
    script.ticks(1, "in_progress")
    script.says("done")
    sync(store)
    assert (_only(store, "tasks")["status"], _only(store, "tasks")["completed_ms"]) == (
        *done.values(),
    )
    assert _only(store, "requests")["completed_ms"] == late
    script.now_ms += 20_000_000
    script.ticks(1, "in_progress")
    sync(store)
    assert _only(store, "tasks")["status"] == "running"


@pytest.mark.requirement("A1", "C1")
def test_compactions_alerts_and_background_agents_are_told(store: Store, tmp_path: Path) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    script.agent_starts("b1")
    given = {"description": "watch the build", "subagent_type": "reviewer"}
    launched = "Async agent launched successfully.\nagentId: b1 (internal)"
    script.call("Agent", given, launched, copy={"isAsync": True, "agentId": "b1"})
    sync(store)
    assert (_only(store, "subtasks")["status"], _only(store, "subtasks")["description"]) == (
        *("running", "watch the build"),
    )
    script.prompt(
        "<task-notification><task-id>b1</task-id><status>failed</status></task-notification>"
    )
    script.compacts()
    script.compacts()
    script.alerts()
    sync(store)
    assert _only(store, "subtasks")["status"] == "failed"
    session = _only(store, "sessions")
    assert (session["compact_count"], session["compact_summary"]) == (2, "all that was said")
    assert _only(store, "windows")["compact_count"] == 2
    assert _only(store, "audit")["kind"] == "CONTEXT_PRESSURE"
    assert len(rows_of(store)["requests"]) == 1


STEPS: dict[str, Any] = {
    "prompt": lambda script, n: script.prompt(f"please do thing number {n}"),
    "call": lambda script, n: script.call("Read", {"file_path": f"/p/{n}.py"}),
    "failed call": lambda script, n: script.call(answer="Exit code 7", failed=True),
    "call only a hook saw": lambda script, n: script.call(transcript=False),
    "call no hook saw": lambda script, n: script.call(hook=False),
    "agent": lambda script, n: script.works(f"a{n}"),
    "agent starts": lambda script, n: script.agent_starts("again"),
    "agent stops": lambda script, n: script.agent_stops("again"),
    "list": lambda script, n: script.lists(f"task {n}", n),
    "tick": lambda script, n: script.ticks(n - 1, "in_progress"),
    "done": lambda script, n: script.ticks(n - 2, "completed"),
    "strike": lambda script, n: script.ticks(n - 1, "deleted"),
    "todo": lambda script, n: script.call(
        "TodoWrite", {"todos": [{"content": f"item {n % 3}", "status": "in_progress"}]}
    ),
    "skill": lambda script, n: script.call("Skill", {"skill": f"skill-{n % 2}"}),
    "says": lambda script, n: script.says(f"said {n}"),
    "compacts": lambda script, n: script.compacts(),
    "alerts": lambda script, n: script.alerts(),
    "ends": lambda script, n: script.ends(),
    "starts": lambda script, n: script.starts(),
    "notes": lambda script, n: script.note(),
    "rotates": lambda script, n: script.rotates(),
    "sync": None,
}


@pytest.mark.requirement("A1", "X6")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=25), st.integers(0, 1 << 30))
@example(["ends", "sync", "starts"], 0)  # it went on: at once, as it does step by step
def test_any_number_of_steps_is_one_step_from_the_beginning(
    store: Store, tmp_path_factory: pytest.TempPathFactory, steps: list[str], seed: int
) -> None:
    """A lost database is the same again: but for lines of the spool that were rotated away."""
    folder = tmp_path_factory.mktemp("told")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_HOME", str(folder / "home"))
        emptied(store)
        pair = [ScriptedSession(folder, "s1"), ScriptedSession(folder, "s2", "/p/other")]
        chance = random.Random(seed)
        rotated = set()
        for number, step in enumerate(steps):
            if STEPS[step] is None:
                sync(store)
                continue
            script = chance.choice(pair)
            if step == "rotates" and script in rotated:
                continue  # a second time would lose lines, as it may
            rotated |= {script} if step == "rotates" else set()
            STEPS[step](script, number)
        sync(store)
        _checked_sums(store)
        stepwise = rows_of(store)
        emptied(store)
        sync(store)
        _checked_sums(store)
        assert rows_of(store) == stepwise


@pytest.mark.requirement("A1")
def test_large_sources_come_in_bounded_batches(store: Store, tmp_path: Path) -> None:
    script = ScriptedSession(tmp_path)
    script.prompt()
    for _ in range(1_500):
        script.call()
    [source, *_] = gather.sources()
    position: dict[str, Any] = {}
    sizes = []
    while (batch := gather.gather(source, position)) is not None:
        sizes.append(len(batch.records))
        store.write(partial(ingest_batch, batch=batch))
        position = batch.until
    assert len(sizes) > 1
    assert max(sizes) <= 2 * records.MOST_RECORDS
    assert _only(store, "sessions")["total_tools_used"] == 1_500
    _checked_sums(store)


@pytest.mark.requirement("A1", "X6")
def test_nothing_is_lost_when_the_spool_is_rotated_or_torn(store: Store, tmp_path: Path) -> None:
    script = ScriptedSession(tmp_path)
    script.call(transcript=False)
    sync(store)
    script.call(transcript=False)
    script.rotates()
    script.call(transcript=False)
    spool_file = Path(positions_file(script))
    whole = spool_file.read_bytes()
    spool_file.write_bytes(whole + b"v2 1767225699000 PostToolUse 5 usage half")
    sync(store)
    assert _only(store, "sessions")["total_tools_used"] == 3
    spool_file.write_bytes(whole + b"v2 1767225699000 PostToolUse 5 usage half Bash 0 m 3\n\xff\n")
    sync(store)
    assert _only(store, "sessions")["total_tools_used"] == 4
    assert read_positions(store)["window:s1/main"]["spool"].values()


def positions_file(script: ScriptedSession) -> str:

    return f"{places.window(script.session)}/spool"
