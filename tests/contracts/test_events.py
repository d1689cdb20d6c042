"""Events are written at the end of a transaction, in the order of commits; of a change that fails
nothing is."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from holdfast.hub.errors import NoRoom
from holdfast.hub.store.engine import WRITES
from holdfast.hub.store.rows import announce, write_events
from holdfast.hub.store.store import Store
from holdfast.hub.tree import sessions
from tests.contracts.trees import told

WAITING = sa.text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")


@pytest.mark.requirement("S3")
def test_events_of_one_change_are_kept_in_their_order(store: Store) -> None:
    def change(connection: sa.Connection) -> None:
        for n in range(30):
            announce(connection, f"k{n}", {"n": n, "of": ["ü", None]}, session_id="s")

    store.write(change)
    store.write(change)
    found = told(store)
    assert [row["kind"] for row in found] == [f"k{n}" for n in range(30)] * 2
    assert found[7]["body"] == {"n": 7, "of": ["ü", None]}
    assert (found[0]["session_id"], found[0]["project_id"]) == ("s", None)


@pytest.mark.slow
@pytest.mark.requirement("S3")
def test_a_later_commit_never_has_a_lower_number(postgres_url: str) -> None:
    """A listener asks for what came after the last it saw: it must not miss one."""
    store = Store.open(postgres_url)

    def later(connection: sa.Connection) -> None:
        announce(connection, "later")

    with ThreadPoolExecutor(1) as pool:
        with store.engine.connect().execution_options(**WRITES) as first, first.begin():
            announce(first, "first")
            write_events(first)
            waits = pool.submit(store.write, later)
            while not (store.read(lambda c: c.scalar(WAITING)) or waits.done()):
                pass
            announce(first, "second")
            write_events(first)
        waits.result(timeout=30)
    assert [row["kind"] for row in told(store)] == ["first", "second", "later"]
    store.close()


ACTION = {"tool_name": "Edit", "tool_type": "builtin", "session_id": "s1"}


@pytest.mark.requirement("S1", "X6")
def test_a_full_file_takes_no_part_of_a_change(store: Store) -> None:
    if not store.is_sqlite:
        pytest.skip("a limit on its pages is SQLite's")

    def change(connection: sa.Connection) -> None:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("PRAGMA max_page_count = 1")  # SQLite takes the pages that it has
        sessions.add_action(connection, {**ACTION, "output": "x" * 1_000_000}, 1)

    store.write(lambda c: sessions.add_action(c, ACTION, 1))
    with pytest.raises(NoRoom):
        store.write(change)
    assert store.read(lambda c: sessions.list_actions(c, 10, 0)).total == 1
    assert len(told(store, "action.created")) == 1
