"""How many calls there were of each tool, by project: kept, so that a filtered list of a million
actions tells its total without counting them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store import pending_writes
from holdfast.hub.store.batch import RowTally
from holdfast.hub.store.rows import Row
from holdfast.hub.store.tables import actions, tool_counts

BY = ("project_id", "tool_name", "tool_type")
KEPT = RowTally(tool_counts, BY)
NO_PROJECT = ""  # a key is never null
COLUMNS = (sa.func.coalesce(actions.c.project_id, NO_PROJECT), actions.c.tool_name,
           actions.c.tool_type)  # fmt: skip


def add(connection: Connection, row: Row, by: int = 1) -> None:
    """One action more, or less."""
    key = (row["project_id"] or NO_PROJECT, row["tool_name"], row["tool_type"])
    pending_writes.tally(connection, KEPT, key, by)


def remove(connection: Connection, which: sa.ColumnElement[bool]) -> int:
    """Delete these actions; how many there were."""
    gone = connection.execute(sa.delete(actions).where(which).returning(*COLUMNS)).all()
    for project_id, tool_name, tool_type in gone:
        pending_writes.tally(connection, KEPT, (project_id, tool_name, tool_type), -1)
    return len(gone)


def place(connection: Connection, homeless: sa.ColumnElement[bool], project_id: str) -> None:
    """Give these actions, which had none, a project."""
    placed = sa.update(actions).where(homeless).values(project_id=project_id)
    told = connection.execute(placed.returning(actions.c.tool_name, actions.c.tool_type)).all()
    for tool_name, tool_type in told:
        pending_writes.tally(connection, KEPT, (NO_PROJECT, tool_name, tool_type), -1)
        pending_writes.tally(connection, KEPT, (project_id, tool_name, tool_type))


def total(connection: Connection, wanted: dict[str, str | None]) -> int:
    """`wanted`: any of project, tool and type."""
    filters = [tool_counts.c[name] == value for name, value in wanted.items() if value is not None]
    query = sa.select(sa.func.coalesce(sa.func.sum(tool_counts.c.n), 0)).where(*filters)
    return int(connection.scalar(query) or 0)


def recount(connection: Connection) -> None:
    connection.execute(sa.delete(tool_counts))
    pending_writes.drop(connection, KEPT)
    counted = sa.select(*COLUMNS, sa.func.count()).group_by(*COLUMNS)
    connection.execute(sa.insert(tool_counts).from_select([*BY, "n"], counted))
