"""Backup and restore: one format for both engines, whole or not at all."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from holdfast.hub.errors import NoBackup, NotEmpty, TooNew
from holdfast.hub.store import backup, schema
from holdfast.hub.store.backup import clear, restore
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import events, metadata, positions
from holdfast.hub.tree import projects as work_projects
from holdfast.hub.tree import sessions
from tests.contracts.trees import count_of

pytestmark = pytest.mark.requirement("S1", "X6")
NOW = 1_700_000_000_000


def _fill(store: Store, n: int = 30) -> None:
    def change(connection: sa.Connection) -> None:
        for number in range(n):
            row = work_projects.put(
                connection, f"/w/{number} ü\u2028'\"\\", NOW, metadata={"a": [1, None, {"b": 0.5}]}
            )
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


def test_a_backup_gives_back_every_row(store: Store, tmp_path: Path) -> None:
    _fill(store)
    before, path = _everything(store), tmp_path / "b.gz"
    rows = backup.keep(store.engine, path)
    assert (rows["projects"], rows["sessions"], rows["events"]) == (30, 30, 60)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    store.write(lambda c: work_projects.remove(c, before["projects"][0][0]))
    with pytest.raises(NotEmpty):
        restore(store.engine, path)
    assert restore(store.engine, path, replace=True) == rows
    assert _everything(store) == before
    assert all(one.ok for one in check(store.engine))


def test_life_goes_on_after_a_restore(store: Store, tmp_path: Path) -> None:
    _fill(store, 2)
    backup.keep(store.engine, tmp_path / "b.gz")
    restore(store.engine, tmp_path / "b.gz", replace=True)
    store.write(lambda c: work_projects.put(c, "/new", NOW))
    newest = store.read(lambda c: c.scalar(sa.select(sa.func.max(events.c.id))))
    assert newest == 5, "numbers of events go on"
    assert count_of(store, "projects") == 3


@pytest.mark.slow
@pytest.mark.parametrize("there", ["sqlite_url", "postgres_url"])
def test_a_backup_of_one_engine_fits_the_other(
    store: Store, there: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    _fill(store)
    before = _everything(store)
    backup.keep(store.engine, tmp_path / "b.gz")
    other_url = request.getfixturevalue(there)
    if there == "sqlite_url":
        other_url = f"sqlite:///{tmp_path / 'other.db'}"
    elif not store.is_sqlite:
        pytest.skip("the same engine, proven above")
    other = Store.open(other_url)
    restore(other.engine, tmp_path / "b.gz")
    assert _everything(other) == before
    assert all(one.ok for one in check(other.engine))
    other.close()


def test_a_database_nobody_made_takes_a_backup(store: Store, tmp_path: Path) -> None:
    _fill(store, 3)
    backup.keep(store.engine, tmp_path / "b.gz")
    from holdfast.hub.store.engine import open_engine

    engine = open_engine(f"sqlite:///{tmp_path / 'none.db'}")
    assert restore(engine, tmp_path / "b.gz")["projects"] == 3
    assert all(one.ok for one in check(engine))
    engine.dispose()


def _changed(path: Path, change: str) -> Path:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    bad = path.with_suffix(".bad")
    match change:
        case "a row is gone":
            lines.pop(-2)
        case "a word is changed":
            lines = [line.replace(b"/w/3", b"/w/x") for line in lines]
        case "the end is gone":
            lines.pop()
        case "more came after the end":
            lines.append(b"[1]\n")
        case "no header":
            lines = lines[1:]
        case "another format":
            lines[0] = lines[0].replace(b'"format":1', b'"format":9')
        case "empty":
            lines = []
    data = gzip.compress(b"".join(lines))
    match change:
        case "torn":
            data = data[: len(data) // 2]
        case "not gzip":
            data = b"".join(lines)
        case "a byte is changed":
            data = (
                data[: len(data) // 2]
                + bytes([data[len(data) // 2] ^ 1])
                + data[len(data) // 2 + 1 :]
            )
    bad.write_bytes(data)
    return bad


@pytest.mark.parametrize(
    "change",
    [
        "a row is gone",
        "a word is changed",
        "the end is gone",
        "more came after the end",
        "no header",
        "another format",
        "empty",
        "torn",
        "not gzip",
        "a byte is changed",
    ],
)
def test_a_backup_that_changed_is_refused_and_nothing_is_touched(
    store: Store, tmp_path: Path, change: str
) -> None:
    _fill(store, 5)
    backup.keep(store.engine, tmp_path / "b.gz")
    before = _everything(store)
    with pytest.raises(NoBackup):
        restore(store.engine, _changed(tmp_path / "b.gz", change), replace=True)
    assert _everything(store) == before


def test_a_backup_never_replaces_a_file(store: Store, tmp_path: Path) -> None:
    (tmp_path / "b.gz").write_text("mine")
    with pytest.raises(NoBackup):
        backup.keep(store.engine, tmp_path / "b.gz")
    assert [(one.name, one.read_text()) for one in tmp_path.glob("b.gz*")] == [("b.gz", "mine")]


def test_a_backup_of_a_newer_version_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(schema, "KNOWN", (*schema.KNOWN, "9999"))
        _set_version(store, "9999")
        backup.keep(store.engine, tmp_path / "b.gz")
    _set_version(store, schema.HEAD)
    with pytest.raises(TooNew):
        restore(store.engine, tmp_path / "b.gz", replace=True)


def _set_version(store: Store, version: str) -> None:
    """As another process does it: a store refuses to write once the version is newer."""
    text = sa.text("UPDATE alembic_version SET version_num = :version")
    with store.engine.begin() as connection:
        connection.execute(text, {"version": version})


def test_a_newer_database_is_refused_by_everybody(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    _set_version(store, "9999")
    with pytest.raises(TooNew):
        Store.open(store_url)
    with pytest.raises(TooNew):
        backup.keep(store.engine, tmp_path / "b.gz")
    [version] = [one for one in check(store.engine) if not one.ok]
    assert (version.name, "newer Holdfast" in version.words) == ("version", True)


def test_a_database_without_tables_of_ours_is_brought_up(store: Store, store_url: str) -> None:
    def back_to_nothing(connection: sa.Connection) -> None:
        clear(connection)
        connection.execute(sa.text("CREATE TABLE somebody_else (id INTEGER)"))

    store.write(back_to_nothing)
    opened = Store.open(store_url)
    assert all(one.ok for one in check(opened.engine))
    assert opened.read(lambda c: sa.inspect(c).has_table("somebody_else"))
    opened.close()


def test_check_sees_what_is_wrong(store: Store) -> None:
    _fill(store, 3)
    assert all(one.ok for one in check(store.engine))
    store.write(lambda c: c.execute(sa.text("DROP TABLE claims")))
    wrong = {one.name: one.words for one in check(store.engine) if not one.ok}
    assert wrong.keys() == {"tables"}
    assert "claims" in wrong["tables"]
