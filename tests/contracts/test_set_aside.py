"""A session that cannot be ingested stops no other: it is set aside, reported and tried again."""

from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from holdfast.hub.errors import StoreError
from holdfast.hub.ingest import background, set_aside
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import metadata
from tests.contracts.faulty_sessions import FAULTS, a_working_session, free_the_path, take_the_path
from tests.contracts.session_script import rows_of

pytestmark = pytest.mark.requirement("A1", "X6")
FAULTY = "window:taken-path/main"


def _calls(store: Store) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows_of(store, "actions")["actions"]:
        found[row["session_id"]] = found.get(row["session_id"], 0) + 1
    return found


def _write_all(folder: Path) -> int:
    """A healthy session before and after each faulty one; return the calls of a healthy one."""
    for number, (name, fault) in enumerate(FAULTS.items()):
        a_working_session(folder, f"{name}-before-{number}")
        a_working_session(folder, name, fault)
        healthy = a_working_session(folder, f"{name}-later-{number}")
    return healthy.calls


def test_faulty_sessions_stop_no_other(store: Store, tmp_path: Path) -> None:
    take_the_path(store, "/p/taken-path")
    calls = _write_all(tmp_path)
    done = sync(store)
    found = _calls(store)
    healthy = [name for name in found if "-before-" in name or "-later-" in name]
    assert len(healthy) == 2 * len(FAULTS)
    assert {found[name] for name in healthy} == {calls}
    assert done.set_aside == len(set_aside.load()) > 0
    assert FAULTY in set_aside.load()


def test_a_source_that_was_set_aside_is_tried_again(store: Store, tmp_path: Path) -> None:
    take_the_path(store, "/p/taken-path")
    script = a_working_session(tmp_path, "taken-path")
    assert sync(store).set_aside >= 1
    free_the_path(store)
    assert sync(store).set_aside >= 1, "not at once"
    assert not _calls(store)
    _make_due()
    background.retry(store)
    assert _calls(store) == {"taken-path": script.calls}
    assert not set_aside.load()


def _make_due() -> None:
    """As if the longest wait had passed."""
    for source, failed in set_aside.load().items():
        set_aside.remove(source)
        set_aside.add(source, failed.error, failed.failed_ms - set_aside.LONGEST_WAIT_MS)


def test_a_database_that_fails_sets_no_source_aside(store: Store, tmp_path: Path) -> None:
    a_working_session(tmp_path, "s1")
    store.write(lambda c: metadata.tables["positions"].drop(c))
    with pytest.raises((StoreError, DBAPIError)):
        sync(store)
    assert not set_aside.load()
