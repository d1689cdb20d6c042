"""A database made by an older version keeps its rows; one made by a newer version is refused.

`released` holds what 0.1.0 and 0.2.0 made: the statements that made their tables on either engine,
and the rows of a short session, written through their own API.
"""

from pathlib import Path
from typing import TypeAlias

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.errors import StoreError
from holdfast.hub.store.schema import check
from holdfast.hub.store.store import Store
from holdfast.hub.tree import contexts, sessions, work
from holdfast.hub.tree.sessions import project_figures

RELEASED = Path(__file__).parent / "released"
VERSIONS = {"0.1.0": "0004", "0.2.0": "0005"}
RETIRED = ("counts", "tool_counts", "waves")  # derived when asked for since
Rows: TypeAlias = dict[str, list[dict[str, object]]]
every_release = pytest.mark.parametrize("release", VERSIONS)


def _make(connection: Connection, release: str) -> None:
    """Make a database as this release left it."""
    there = sa.MetaData()
    there.reflect(connection)
    there.drop_all(connection)
    if connection.dialect.name == "postgresql":
        for kind in ("CONFIGURATION holdfast", "DICTIONARY holdfast_stem"):
            connection.exec_driver_sql(f"DROP TEXT SEARCH {kind}")
    for name in (connection.dialect.name.replace("postgresql", "postgres"), "rows"):
        for statement in (RELEASED / release / f"{name}.sql").read_text().split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    if connection.dialect.name == "postgresql":  # the rows came with their numbers
        connection.exec_driver_sql("SELECT setval('events_id_seq', max(id)) FROM events")


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


def _as_before(after: Rows, before: Rows) -> Rows:
    """The tables and columns there were; what has come since is left out."""
    return {
        name: sorted(({column: row[column] for column in before[name][0]} for row in rows), key=str)
        for name, rows in after.items()
        if before.get(name)
    }


def _kept(rows: Rows) -> Rows:
    return {name: found for name, found in rows.items() if found and name not in RETIRED}


@every_release
@pytest.mark.requirement("S1")
def test_a_released_database_is_brought_up_with_all_its_rows(
    store: Store, store_url: str, release: str
) -> None:
    store.write(lambda c: _make(c, release))
    before = _rows(store)
    assert len(before["actions"]) == 3
    with pytest.raises(StoreError, match=VERSIONS[release]):
        Store.open(store_url, migrate=False)
    opened = Store.open(store_url)
    after = _rows(opened)
    assert _as_before(after, before) == _kept(before)
    assert not set(RETIRED) & after.keys()
    assert [one.words for one in check(opened.engine) if not one.ok] == []
    project = ids.project_id("/work/gauges")
    _, figures = opened.read(lambda c: project_figures(c, project))
    assert [figures[f"total_{noun}"] for noun in ("requests", "tasks", "subtasks")] == [1, 2, 2]
    assert opened.read(lambda c: sessions.list_actions(c, 9, 0, tool_name="Bash")).total == 1
    snapshot = opened.read(lambda c: contexts.latest_snapshot(c, "s1"))
    assert snapshot is not None
    assert snapshot["progress_summary"] == "The parser reads two headings"
    given = {"project_id": project, "session_id": "s1", "prompt": "go on"}
    opened.write(lambda c: work.add_request(c, given, 1))
    opened.close()
