"""Backup and restore: one form for both engines, whole or not at all."""

import stat
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from holdfast.hub.errors import NoBackup, StoreError
from holdfast.hub.store import backup
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import events, metadata, positions
from holdfast.hub.tree import sessions
from holdfast.hub.tree.sessions import put_project, remove_project

pytestmark = pytest.mark.requirement("S1", "X6")
NOW = 1_700_000_000_000


def _fill(store: Store, n: int = 30) -> None:
    def change(connection: sa.Connection) -> None:
        for number in range(n):
            metadata = {"a": [1, None, {"b": 0.5}]}
            given = {"path": f"/w/{number} ü\u2028'\"\\", "metadata": metadata}
            row = put_project(connection, given, NOW)
            sessions.add(connection, {"id": f"s{number}", "project_id": row["id"]}, NOW)
        connection.execute(sa.insert(positions).values(source="x", position=None, updated_ms=1))

    store.write(change)


def _everything(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    def read(connection: sa.Connection) -> dict[str, list[tuple[Any, ...]]]:
        return {
            table.name: [tuple(row) for row in connection.execute(_ordered(table))]
            for table in metadata.sorted_tables
        }

    return store.read(read)


def _ordered(table: sa.Table) -> sa.Select[Any]:
    return sa.select(table).order_by(*table.primary_key.columns)


def _restore(path: Path, store: Store, *, replace: bool = False) -> dict[str, int]:
    with backup.opened_copy(path) as kept:
        return backup.restore(kept, store.engine, replace=replace)


def test_a_backup_gives_back_every_row_and_life_goes_on(store: Store, tmp_path: Path) -> None:
    _fill(store)
    before, path = _everything(store), tmp_path / "b.db"
    rows = backup.keep(store.engine, path)
    assert (rows["projects"], rows["sessions"], rows["events"]) == (30, 30, 60)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    store.write(lambda c: remove_project(c, before["projects"][0][0], NOW))
    with pytest.raises(StoreError, match="rows in this database already"):
        _restore(path, store)
    assert _restore(path, store, replace=True) == rows
    assert _everything(store) == before
    assert all(one.ok for one in check(store.engine))
    store.write(lambda c: put_project(c, {"path": "/new"}, NOW))
    newest = store.read(lambda c: c.scalar(sa.select(sa.func.max(events.c.id))))
    assert newest > 60, "numbers of events go on"
    assert [one.name for one in tmp_path.iterdir() if ".draft" in one.name] == []


@pytest.mark.slow
@pytest.mark.parametrize("there", ["sqlite_url", "postgres_url"])
def test_a_backup_of_one_engine_fits_the_other(
    store: Store, there: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    _fill(store)
    before = _everything(store)
    backup.keep(store.engine, tmp_path / "b.db")
    other_url = request.getfixturevalue(there)
    if there == "sqlite_url":
        other_url = f"sqlite:///{tmp_path / 'other.db'}"
    elif not store.is_sqlite:
        pytest.skip("the same engine, proven above")
    other = Store.open(other_url)
    _restore(tmp_path / "b.db", other)
    assert _everything(other) == before
    other.close()


def _changed(path: Path, change: str) -> Path:
    data, bad = path.read_bytes(), path.with_suffix(".bad")
    match change:
        case "torn":
            data = data[: len(data) // 2]
        case "a page is gone":
            data = data[:8192] + b"\xff" * 4096 + data[12288:]
        case "text":
            data = b"no database\n" * 99
        case "empty":
            data = b""
    bad.write_bytes(data)
    return bad


@pytest.mark.parametrize("change", ["torn", "a page is gone", "text", "empty"])
def test_what_is_no_whole_backup_changes_nothing(store: Store, tmp_path: Path, change: str) -> None:
    _fill(store)
    backup.keep(store.engine, tmp_path / "b.db")
    before = _everything(store)
    with pytest.raises(NoBackup):
        _restore(_changed(tmp_path / "b.db", change), store, replace=True)
    assert _everything(store) == before
