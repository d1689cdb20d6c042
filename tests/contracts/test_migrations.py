"""A database made by an older version keeps its rows; one made by a newer version is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TypeAlias

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.errors import TooNew, TooOld
from holdfast.hub.store import backup, schema
from holdfast.hub.store import backup as restoring
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.tree import actions

VERSIONS = schema.FOLDER / "versions"
FROZEN = {
    "0001_the_first_tables.py": (
        "cb3429d9946fefc7d025b93aa3e180ecd8e0bed990ae22cda4774cbb7b5a9307"
    ),
}
ROWS = """
INSERT INTO projects (id, path, created_ms, updated_ms) VALUES ('p', '/w', 1, 1);
INSERT INTO sessions (id, project_id, started_ms, total_tools_used) VALUES ('s', 'p', 1, 3);
INSERT INTO requests (id, project_id, session_id, prompt, prompt_type, status, created_ms)
  VALUES ('r', 'p', 's', 'do it', 'other', 'active', 2);
INSERT INTO tasks (id, request_id, name, wave_number, status, created_ms)
  VALUES ('t', 'r', 'Wave 0', 0, 'running', 3);
INSERT INTO subtasks (id, task_id, session_id, description, status, created_ms)
  VALUES ('u', 't', 's', 'part', 'running', 4);
INSERT INTO actions (id, session_id, project_id, subtask_id, tool_name, tool_type, exit_code,
  file_paths, created_ms) VALUES
  ('a1', 's', 'p', 'u', 'Bash', 'builtin', 0, '["/w/ü.py"]', 5),
  ('a2', 's', 'p', NULL, 'Bash', 'builtin', 1, NULL, 6),
  ('a3', 's', NULL, NULL, 'Task', 'agent', 0, NULL, 7);
INSERT INTO messages (id, from_agent, topic, content, priority, created_ms, expires_ms)
  VALUES ('m', 'a', 'task.completed', '{"n": 1}', 5, 8, 9);
INSERT INTO agent_contexts (id, project_id, agent_id, agent_type, updated_ms)
  VALUES ('c', 'p', 'a', 'backend', 10);
INSERT INTO counts (noun, n) VALUES ('actions', 3), ('messages', 1), ('sessions', 1),
  ('projects', 1), ('requests', 1), ('tasks', 1), ('subtasks', 1),
  ('requests of p', 1), ('tasks of p', 1), ('subtasks of p', 1)
"""


def _make_old(connection: Connection) -> None:
    restoring.clear(connection)
    schema.upgrade(connection, "0001")
    for statement in ROWS.split(";"):
        connection.exec_driver_sql(statement)


Rows: TypeAlias = dict[str, list[dict[str, object]]]


def _as_before(after: Rows, before: Rows) -> Rows:
    """The tables and columns there were; what has come since is left out."""
    return {
        name: [
            {column: row[column] for column in was}
            for row, was in zip(after[name], rows, strict=True)
        ]
        for name, rows in before.items()
    }


def _rows(store: Store) -> Rows:
    def read(connection: Connection) -> Rows:
        there = sa.MetaData()
        there.reflect(connection)
        ours = [table for name, table in there.tables.items() if name != "alembic_version"]
        return {
            table.name: sorted(
                (dict(row) for row in connection.execute(sa.select(table)).mappings()), key=str
            )
            for table in ours
        }

    return store.read(read)


@pytest.mark.requirement("S1")
def test_a_database_of_the_first_version_is_brought_up_with_its_rows(
    store: Store, store_url: str
) -> None:
    store.write(_make_old)
    before = _rows(store)
    assert len(before["actions"]) == 3
    with pytest.raises(TooOld, match="0001"):
        Store.open(store_url, migrate=False)
    opened = Store.open(store_url)
    after = _rows(opened)
    assert _as_before(after, before) == before
    assert [one.words for one in check(opened.engine) if not one.ok] == []
    for wanted, total in (
        ({"tool_name": "Bash"}, 2),
        ({"tool_type": "agent"}, 1),
        ({"project_id": "p"}, 2),
        ({"project_id": "p", "tool_type": "agent"}, 0),
        ({}, 3),
    ):
        page = opened.read(lambda c, by=wanted: actions.list_page(c, 9, 0, **by))  # type: ignore[misc]
        assert (len(page.rows), page.total) == (total, total)
    opened.close()


@pytest.mark.requirement("S1")
def test_a_backup_of_the_first_version_is_restored_into_this_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(_make_old)
    before = _rows(store)
    with monkeypatch.context() as older:
        older.setattr(schema, "HEAD", "0001")
        backup.keep(store.engine, tmp_path / "b.gz")
    restoring.restore(store.engine, tmp_path / "b.gz", replace=True)
    after = _rows(store)
    assert _as_before(after, before) == before
    assert [one.words for one in check(store.engine) if not one.ok] == []


@pytest.mark.requirement("S1")
def test_a_database_of_a_newer_version_is_refused_in_words(store: Store, store_url: str) -> None:
    store.write(lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = '0999'"))
    before = _rows(store)
    with pytest.raises(TooNew, match=f"0999; this Holdfast knows up to {schema.HEAD}") as error:
        Store.open(store_url)
    assert "upgrade" in error.value.hint.lower()
    assert _rows(store) == before


def test_migrations_are_added_and_never_edited() -> None:
    there = sorted(path.name for path in VERSIONS.glob("0*.py"))
    assert [name[:4] for name in there] == list(schema.KNOWN)
    assert schema.KNOWN[-1] == schema.HEAD
    for name, digest in FROZEN.items():
        assert hashlib.sha256((VERSIONS / name).read_bytes()).hexdigest() == digest
