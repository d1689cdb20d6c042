"""A lost or damaged database is made again; what people wrote stays where it can be read."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from holdfast.checkpoint.write import keep
from holdfast.cli.main import holdfast_command
from holdfast.hub import ids, rebuild
from holdfast.hub.errors import Corrupt
from holdfast.hub.ingest.sync import sync
from holdfast.hub.ingest.windows import past_sources
from holdfast.hub.store import backup
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import actions, claims, messages, requests, sessions, subtasks, tasks
from tests.archive.sessions import session_path
from tests.checkpoint.documents import a_document
from tests.contracts.session_script import START_MS, ScriptedSession, rows_of


def _a_day_of_work(folder: Path) -> ScriptedSession:
    script = ScriptedSession(folder)
    script.starts()
    script.prompt()
    script.lists("first", 1)
    script.works("a1")
    script.call(failed=True)
    script.compacts()
    script.alerts()
    script.says("done")
    script.ends()
    script.note()
    keep(a_document(folder, session_id="s1"))
    return script


def _by_people(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Something below what was told, something beside it, and an edit."""

    def write(connection: sa.Connection) -> None:
        [request] = connection.execute(sa.select(requests)).mappings()
        project = {"project_id": request["project_id"]}
        task = {"id": ids.new(), "request_id": request["id"], "name": "theirs", "wave_number": 7}
        connection.execute(sa.insert(tasks), {**task, "status": "pending", "created_ms": 1})
        part = {"id": ids.new(), "task_id": task["id"], "session_id": "s1", "description": "x"}
        connection.execute(sa.insert(subtasks), {**part, "created_ms": 1})
        call: dict[str, Any] = {"id": ids.new(), "session_id": "s1", "tool_type": "builtin"}
        [script] = connection.execute(sa.select(subtasks.c.id).where(subtasks.c.agent_id == "a1"))
        call |= {"tool_name": "Bash", "subtask_id": script[0], "created_ms": 1, "exit_code": 1}
        connection.execute(sa.insert(actions), call)
        message = {"id": ids.new(), "from_agent": "a", "topic": "task.created", "created_ms": 1}
        connection.execute(sa.insert(messages), {**message, **project, "expires_ms": 2})
        claim = {"work": "parser", "agent_id": "a", "claimed_ms": 1, "expires_ms": 2}
        connection.execute(sa.insert(claims), {**claim, **project})
        other = {"id": "elsewhere", "started_ms": START_MS, "total_tools_used": 5}
        connection.execute(sa.insert(sessions), other)
        totals = {"total_tools_used": sessions.c.total_tools_used + 1}
        totals["total_errors"] = sessions.c.total_errors + 1
        connection.execute(sa.update(sessions).where(sessions.c.id == "s1").values(totals))

    store.write(write)
    return _everything(store)


def _everything(store: Store) -> dict[str, list[dict[str, Any]]]:
    found = rows_of(store) | rows_of(store, "messages", "claims")
    for row in found["sessions"]:
        if row["id"] == "elsewhere":
            row["total_tools_used"] = 0  # nothing there tells of any
    return found


@pytest.mark.requirement("A1", "C7", "X6", "U3")
def test_a_sound_database_is_filled_anew_and_people_keep_what_they_wrote(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    _a_day_of_work(tmp_path)
    sync(store)
    before = _by_people(store)
    store.write(lambda c: c.execute(sa.update(actions).values(tool_name="wrong", exit_code=9)))
    store.write(lambda c: c.execute(sa.update(requests).values(prompt="")))
    found = rebuild.rebuild(store_url)
    assert found.set_aside == ""
    after = _everything(store)
    ours = [row for row in after["actions"] if row["tool_name"] == "wrong"]
    [theirs] = [row for row in before["actions"] if row["created_ms"] == 1]
    assert [row["id"] for row in ours] == [theirs["id"]]  # what people wrote is theirs
    store.write(
        lambda c: c.execute(
            sa.update(actions)
            .where(actions.c.id == theirs["id"])
            .values(tool_name="Bash", exit_code=1)
        )
    )
    assert _everything(store) == before


@pytest.mark.requirement("X6", "U5")
def test_a_session_listed_before_its_hooks_told_of_it_has_the_rows_of_one_they_told_of_first(
    store: Store, tmp_path: Path
) -> None:
    script = ScriptedSession(session_path("s1", "/p/tide").parent)
    script.now_ms = 123  # nothing happens at a full second
    script.note(transcript="")  # the hooks that would have told of it were killed
    script.answer([])
    assert past_sources() == ["past:s1"]
    sync(store, past_sources())
    script.note()
    script.starts()
    script.says("done")
    sync(store)
    again = Store.open(f"sqlite:///{tmp_path / 'again.db'}")
    sync(again)
    assert rows_of(store) == rows_of(again)
    again.close()


@pytest.mark.requirement("X6", "U3")
@pytest.mark.parametrize("harm", ["head", "middle", "tail"])
def test_a_damaged_file_is_set_aside_read_as_far_as_it_goes_and_said(
    sqlite_url: str, tmp_path: Path, harm: str
) -> None:
    _a_day_of_work(tmp_path)
    store = Store.open(sqlite_url)
    sync(store)
    before = _by_people(store)
    store.write(
        lambda c: c.execute(
            sa.insert(messages),
            [
                {
                    "id": ids.new(),
                    "from_agent": "a" * 200,
                    "topic": "task.created",
                    "created_ms": n,
                    "expires_ms": n,
                }
                for n in range(2_000)
            ],
        )
    )
    store.close()
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    _harm(path, harm)
    ran = CliRunner().invoke(holdfast_command, ["rebuild", "--database", sqlite_url])
    assert ran.exit_code == 0, ran.output
    assert "the database was damaged; it is saved as" in ran.stdout
    [aside] = path.parent.glob("holdfast.db.damaged-*Z")
    assert aside.stat().st_size > 100_000
    again = Store.open(sqlite_url)
    after = _everything(again)
    script = {
        name: [row for row in after[name] if row["id"][14:15] == "5"]
        for name in ("actions", "requests", "subtasks")
    }
    assert script == {
        name: [row for row in before[name] if row["id"][14:15] == "5"] for name in script
    }
    if harm == "middle":
        assert len(after["messages"]) > 100  # those before and behind the damage
    again.close()
    second = CliRunner().invoke(holdfast_command, ["rebuild", "--database", sqlite_url])
    assert "was damaged" not in second.stdout


def _harm(path: Path, where: str) -> None:
    data = bytearray(path.read_bytes())
    if where == "head":
        data[:4096] = b"x" * 4096
    elif where == "middle":
        middle = len(data) // 2 // 4096 * 4096
        data[middle : middle + 8192] = b"\xa5" * 8192
    else:
        del data[len(data) * 2 // 3 :]
    path.write_bytes(bytes(data))


@pytest.mark.requirement("X6")
def test_what_no_page_holds_any_more_comes_from_the_nightly_copy(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    store = Store.open(sqlite_url)
    row = {"from_agent": "a" * 200, "topic": "task.created", "created_ms": 1, "expires_ms": 1}
    old, new = ([{"id": ids.new(), **row} for _ in range(many)] for many in (500, 3))
    store.write(lambda c: c.execute(sa.insert(messages), old))
    assert backup.copy_nightly(store.engine)
    assert not backup.copy_nightly(store.engine)  # one a night
    store.write(lambda c: c.execute(sa.insert(messages), new))
    store.close()
    _harm(path, "tail")
    with pytest.raises(Corrupt):
        backup.copy_nightly(Store.open(sqlite_url, migrate=False).engine, every_seconds=0)
    rebuild.rebuild(sqlite_url)
    again = Store.open(sqlite_url)
    there = {row["id"] for row in rows_of(again, "messages")["messages"]}
    assert {row["id"] for row in old} <= there
    again.close()
