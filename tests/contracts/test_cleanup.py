import pytest
import sqlalchemy as sa

from holdfast.hub import cleanup, row_times
from holdfast.hub.ingest import background
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import (
    agent_contexts,
    messages,
    projects,
    requests,
    sessions,
    subtasks,
    tasks,
)
from holdfast.settings import load as settings_load

NOW = 1_800_000_000_000
DAY = cleanup.DAY_MS


def a_message(store: Store, name: str, expires_ms: int) -> None:
    row = {"id": name, "from_agent": "a", "topic": "task.created", "created_ms": expires_ms - 1}
    store.write(lambda c: c.execute(sa.insert(messages).values({**row, "expires_ms": expires_ms})))


def a_snapshot(store: Store, name: str, session_id: str, at_ms: int) -> None:
    row = {
        "id": name,
        "agent_id": name,
        "agent_type": "compact-snapshot",
        "session_id": session_id,
        "role_context": {"trigger": "guard"},
        "updated_ms": at_ms,
    }
    store.write(lambda c: c.execute(sa.insert(agent_contexts).values(row)))


def ids(store: Store, table: sa.Table) -> set[str]:
    return set(store.read(lambda c: c.scalars(sa.select(table.c.id)).all()))


@pytest.mark.requirement("S5")
def test_expired_messages_go_after_a_day_and_are_counted_before(store: Store) -> None:
    for name, left in (("long", -2 * DAY), ("just", -1000), ("live", DAY)):
        a_message(store, name, NOW + left)
    before = store.read(lambda c: cleanup.message_figures(c, NOW))
    assert (before["total"], before["expired"], before["active"], before["unread"]) == (3, 2, 1, 1)
    figures = store.write(lambda c: cleanup.run(c, NOW))
    assert figures["deletedMessages"] == 1
    assert ids(store, messages) == {"just", "live"}
    last = store.read(cleanup.last)
    assert last is not None
    assert last[0] == NOW


@pytest.mark.requirement("S5", "C10")
def test_snapshots_are_thinned_to_one_a_day_and_the_newest_of_a_session_stays(store: Store) -> None:
    for hour in range(3):
        a_snapshot(store, f"week{hour}", "s", NOW - 10 * DAY - hour * 1000)
    a_snapshot(store, "today", "s", NOW - 1000)
    a_snapshot(store, "ancient", "s", NOW - 40 * DAY)
    a_snapshot(store, "only", "t", NOW - 90 * DAY)
    assert store.write(lambda c: cleanup.run(c, NOW))["deletedAgentContexts"] == 3
    assert ids(store, agent_contexts) == {"week0", "today", "only"}
    assert store.read(cleanup.snapshot_figures) == (3, NOW - 1000)


@pytest.mark.requirement("S5", "C10")
def test_snapshots_stay_as_long_as_the_user_set(store: Store) -> None:
    now = row_times.now_ms()
    for days in (0, 2, 4):
        a_snapshot(store, f"{days} days", "s", now - days * DAY - 1000)
    background.tidy(store)
    assert len(ids(store, agent_contexts)) == 3
    file = settings_load.user_file()
    file.parent.mkdir(exist_ok=True)
    file.write_text("checkpoint_days = 3\n")
    background.tidy(store)
    assert ids(store, agent_contexts) == {"0 days", "2 days"}


@pytest.mark.requirement("S5")
def test_a_session_silent_for_a_day_has_ended_and_its_running_subtasks_failed(store: Store) -> None:
    def fill(connection: sa.Connection) -> None:
        project = {"id": "p", "path": "/p", "created_ms": 1, "updated_ms": 1}
        connection.execute(sa.insert(projects).values(project))
        for name, seen in (("old", NOW - 2 * DAY), ("new", NOW - 1000)):
            row = {"id": name, "project_id": "p", "started_ms": 1, "seen_ms": seen}
            connection.execute(sa.insert(sessions).values(row))
            asked = {"id": name, "project_id": "p", "session_id": name, "prompt": "x"}
            connection.execute(sa.insert(requests).values({**asked, "created_ms": 1}))
            task = {"id": name, "request_id": name, "name": "t", "wave_number": 0}
            connection.execute(sa.insert(tasks).values({**task, "created_ms": 1}))
            part = {"id": name, "task_id": name, "session_id": name, "description": "d"}
            whole = {**part, "status": "running", "created_ms": 1}
            connection.execute(sa.insert(subtasks).values(whole))

    store.write(fill)
    figures = store.write(lambda c: cleanup.run(c, NOW))
    assert (figures["closedSessions"], figures["failedSubtasks"]) == (1, 1)
    found = store.read(lambda c: dict(c.execute(sa.select(subtasks.c.id, subtasks.c.status)).all()))
    assert found == {"old": "failed", "new": "running"}
    ended = sa.select(sessions.c.ended_ms).where(sessions.c.id == "old")
    assert store.read(lambda c: c.scalar(ended)) == NOW - 2 * DAY
