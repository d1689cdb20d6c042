"""What hooks know of the shared work, without opening a database."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from holdfast.checkpoint import snapshot
from holdfast.client import sample_payloads
from holdfast.hub import ids, projection, projection_file
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.rows import announce
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import actions, blockings, messages, tasks
from holdfast.hub.tree import work
from tests.builders import SONNET
from tests.contracts.session_script import START_MS, ScriptedSession, rows_of
from tests.hot.hooks import COMMAND, fire, to_model, window

TOKEN = "ghp_" + "a1B2" * 9
HEAVY = ("sqlalchemy", "alembic", "sqlite3", "psycopg", "asyncio", "fastapi")


def _read(session: str = "s1") -> dict[str, Any]:
    return projection_file.read_projection(str(window(session)))


def _a_project(folder: Path) -> ScriptedSession:
    """Two sessions on one project, each with its agents."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    script = ScriptedSession(folder, project=str(project))
    script.prompt("Build the tide tables and print them as a table, please")
    script.lists("read the gauge file", 1)
    script.lists("print the table", 2)
    script.ticks(1, "in_progress")
    script.works("a1")
    other = ScriptedSession(folder, "s2", str(project))
    other.prompt("Write the manual")
    other.agent_starts("b1", "writer")
    return script


def _also(store: Store) -> None:
    def write(connection: sa.Connection) -> None:
        project_id = rows_of(store, "projects")["projects"][0]["id"]
        for number in range(60):
            connection.execute(
                sa.insert(messages),
                {
                    "id": ids.new(),
                    "project_id": project_id,
                    "from_agent": "b1",
                    "topic": "context.response",
                    "content": {"message": f"word {number} {TOKEN}"},
                    "created_ms": START_MS + number,
                    "expires_ms": START_MS * 2,
                },
            )
        connection.execute(
            sa.insert(blockings),
            {"id": ids.new(), "blocked_by": "b1", "blocked_agent": "s1", "created_ms": 1},
        )

    store.write(write)


@pytest.mark.requirement("C3", "A4", "X4")
def test_a_sync_leaves_each_live_session_what_it_may_want_to_know(
    store: Store, tmp_path: Path
) -> None:
    script = _a_project(tmp_path)
    sync(store)
    _also(store)
    now_ms = START_MS + script.now_ms
    assert projection.refresh(store, now_ms=now_ms) == 2
    found = _read()
    [request] = found["hierarchy"]["requests"]
    assert request["prompt"].startswith("Build the tide tables")
    assert [task["name"] for task in request["tasks"]] == ["read the gauge file", "print the table"]
    [part] = request["tasks"][0]["subtasks"]
    assert (part["agent_id"], part["status"]) == ("a1", "completed")
    assert [(one["wave_number"], one["status"]) for one in found["waves"]] == [
        (1, "running"),
        (2, "pending"),
    ]
    assert all(one["from_list"] for one in found["waves"])
    [elsewhere] = found["open_elsewhere"]
    assert (elsewhere["session_id"], elsewhere["agent_type"]) == ("s2", "writer")
    assert {one["agent_id"] for one in found["agent_states"]} == {"s1", "a1"}
    assert len(found["recent_messages"]) == 50
    assert found["recent_messages"][-1]["content"]["message"].startswith("word 59 [redacted")
    assert found["recent_actions"][-1]["tool_name"] == "Agent"
    [wait] = found["blocking"]
    assert (wait["blocked_by"], wait["blocked_agent"]) == ("b1", "s1")
    assert oct((window() / "work.json").stat().st_mode)[-3:] == "600"


@pytest.mark.requirement("C3", "X7")
def test_it_is_bounded_and_a_broken_one_is_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "main"
    folder.mkdir()
    many = [{"content": "x" * 5_000, "n": n} for n in range(200)]
    base = {"running_subtasks": 0, "version": 1, "at_ms": 5, "session_id": "s1"}
    projection_file.write(str(folder), {**base, "recent_messages": many, "recent_actions": []})
    assert (folder / "work.json").stat().st_size <= projection_file.MOST_BYTES
    found = projection_file.read_projection(str(folder))
    assert found["recent_messages"][-1]["n"] == 199
    projection_file.write(str(folder), {**base, "hierarchy": "x" * 600_000})
    assert projection_file.read_projection(str(folder)) == base
    for broken in (b"", b"{", b"[1]", b'{"version": 2}', b'{"version":1,"at_ms":"x"}', b"\xff"):
        (folder / "work.json").write_bytes(broken)
        assert projection_file.read_projection(str(folder)) == {}


def _now(folder: Path, **found: Any) -> None:
    """A projection as if written just now."""
    import time

    folder.mkdir(parents=True, exist_ok=True)
    base = {"version": 1, "at_ms": int(time.time() * 1000), "session_id": "s1"}
    projection_file.write(str(folder), {**base, **found})


def _snapshot(project: Path) -> dict[str, Any]:
    [name] = [one.stem for one in (project / ".claude/checkpoints").glob("*.md")]
    return snapshot.load(str(project), name)


@pytest.mark.requirement("C3", "C1")
def test_a_checkpoint_holds_what_the_store_knows(tmp_path: Path) -> None:
    script = _a_project(tmp_path)
    calls = [{"tool_name": f"T{n}"} for n in range(100)]
    tree = {"requests": [{"prompt": "p", "tasks": []}]}
    messages_ = [{"from_agent": "b1", "content": "hello"}]
    states = [{"agent_id": "a1", "agent_type": "reviewer", "status": "completed"}]
    _now(
        window(),
        hierarchy=tree,
        recent_actions=calls,
        recent_messages=messages_,
        agent_states=states,
    )
    fire("PreCompact", script.transcript, environ={"CLAUDE_PROJECT_DIR": script.project})
    found = _snapshot(Path(script.project))
    assert (found["hierarchy"], found["recent_actions"]) == (tree, calls)
    assert (found["recent_messages"], found["agent_states"]) == (messages_, states)


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("old", [False, True])
def test_without_a_fresh_projection_a_checkpoint_holds_what_is_known_anyway(
    tmp_path: Path, old: bool
) -> None:
    script = _a_project(tmp_path)
    if old:
        _now(window(), at_ms=5, hierarchy={"requests": []}, recent_messages=[{"content": "old"}])
    fire("PreCompact", script.transcript, environ={"CLAUDE_PROJECT_DIR": script.project})
    found = _snapshot(Path(script.project))
    [request] = found["hierarchy"]["requests"]
    assert request["prompt"].startswith("Build the tide tables")
    assert [task["description"] for task in request["tasks"]] == [
        "read the gauge file",
        "print the table",
    ]
    assert {"tool_name": "TaskUpdate", "exit_code": 0, "duration_ms": 36}.items() <= found[
        "recent_actions"
    ][-2].items()
    assert found["agent_states"][0]["agent_type"] == "reviewer"
    assert found["recent_messages"] == ([{"content": "old"}] if old else [])


@pytest.mark.requirement("B2", "C3", "U10")
def test_the_brief_tells_of_running_subtasks_that_only_the_store_knows(
    store: Store, tmp_path: Path
) -> None:
    script = _a_project(tmp_path)
    script.agent_starts("a2")
    given = {"description": "sound the depth", "prompt": "…", "subagent_type": "reviewer"}
    answer = "Async agent launched successfully.\nagentId: a2 (internal)"
    script.call("Agent", given, answer, copy={"agentId": "a2", "status": "async_launched"})
    sync(store)
    _through_the_api(store, "weigh the anchor", "running", "deckhand")
    _through_the_api(store, "paint the hull", "pending", "painter")
    _through_the_api(store, "sweep the deck", "completed", "sweeper")
    assert projection.refresh(store, now_ms=START_MS + script.now_ms) == 2
    assert {one["agent_id"] for one in projection_file.running(_read())} == {"a2", "deckhand-1"}
    said = to_model(fire("SessionStart", script.transcript, source="compact", model=SONNET))
    assert "running (by the store, " in said
    assert " UTC): weigh the anchor" in said
    assert "pending (by the store, " in said
    assert "sweep the deck" not in said
    assert "reviewer, running (by the store" not in said, "the transcript tells of this one"
    agent: Any = {"agent_id": "deckhand-1", "agent_type": "deckhand"}
    own = to_model(fire("SessionStart", script.transcript, source="compact", model=SONNET, **agent))
    assert "weigh the anchor" not in own, "a subagent is not told of itself"


def _through_the_api(store: Store, words: str, status: str, agent_type: str) -> None:
    """A subtask that no transcript tells of."""
    [row] = [one for one in rows_of(store, "tasks")["tasks"] if one["name"] == "print the table"]
    given = {"task_id": row["id"], "description": words, "status": status}
    given |= {"agent_type": agent_type, "agent_id": f"{agent_type}-1"}
    store.write(lambda c: work.add_subtask(c, given, START_MS))


@pytest.mark.requirement("B9", "C11", "C3")
@pytest.mark.parametrize("event", ["PreCompact", "SessionStart"])
def test_no_hook_loads_the_store(sqlite_url: str, tmp_path: Path, event: str) -> None:
    script = _a_project(tmp_path)
    store = Store.open(sqlite_url)
    sync(store)
    some = [_an_action(n) for n in range(2_000)]
    store.write(lambda c: c.execute(sa.insert(actions), some))
    store.write(lambda c: c.execute(sa.update(tasks).values(status="running")))
    projection.refresh(store, now_ms=START_MS)
    store.close()
    sent = sample_payloads.make_payload(
        event, session_id="s1", transcript=str(script.transcript), cwd="/p"
    )
    sent |= {"source": "compact"} if event == "SessionStart" else {}
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:]],
        input=json.dumps(sent).encode(),
        capture_output=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.decode().splitlines()}
    assert "holdfast.hub.projection_file" in loaded
    assert not {name for name in loaded if name.partition(".")[0] in HEAVY}
    assert ran.stdout


def _an_action(number: int) -> dict[str, Any]:
    return {
        "id": ids.new(),
        "session_id": "s1",
        "tool_name": "Bash",
        "tool_type": "builtin",
        "created_ms": START_MS + number,
    }


@pytest.mark.requirement("C3", "A2")
def test_a_change_through_the_api_reaches_the_sessions_of_its_project(
    store: Store, tmp_path: Path
) -> None:
    script = _a_project(tmp_path)
    script.now_ms = 0
    sync(store)
    for name in ("s1", "s2"):
        script = ScriptedSession(tmp_path, name, str(tmp_path / "project"))
        script.note(at_ms=2**50)  # heard of just now, by any clock
    last = projection.follow(store, 0)
    (window() / "work.json").unlink()
    assert projection.follow(store, last) == last
    assert _read() == {}
    [project] = rows_of(store, "projects")["projects"]
    tell = partial(announce, kind="message.posted", project_id=project["id"])
    store.write(lambda c: tell(c))
    assert projection.follow(store, last) == last + 1
    assert _read()["session_id"] == "s1"
