"""Taking a branch off the tree: counted, and forgotten by the agents who worked on it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub.store import pending_writes
from holdfast.hub.store.tables import actions, subtasks, tasks
from holdfast.hub.tree import agent_rows, projects, tool_counts


def below(
    connection: Connection, project_id: str, which_tasks: sa.ColumnElement[bool], now_ms: int
) -> None:
    """Tasks and all under them."""
    of_tasks = subtasks.c.task_id.in_(_ids(tasks, which_tasks))
    subtasks_below(connection, project_id, of_tasks, now_ms)
    gone = connection.execute(sa.delete(tasks).where(which_tasks)).rowcount
    projects.count(connection, project_id, "tasks", -gone)


def subtasks_below(
    connection: Connection, project_id: str, which_subtasks: sa.ColumnElement[bool], now_ms: int
) -> None:
    """Subtasks, and what was done for them."""
    agent = sa.select(subtasks.c.session_id, subtasks.c.agent_id).distinct()
    at_work = connection.execute(agent.where(which_subtasks, subtasks.c.agent_id.is_not(None)))
    agents = [(session_id, agent_id) for session_id, agent_id in at_work]
    done = actions.c.subtask_id.in_(_ids(subtasks, which_subtasks))
    pending_writes.count(connection, "actions", -tool_counts.remove(connection, done))
    gone = connection.execute(sa.delete(subtasks).where(which_subtasks)).rowcount
    projects.count(connection, project_id, "subtasks", -gone)
    for session_id, agent_id in agents:
        agent_rows.follow(connection, session_id, agent_id, now_ms)


def _ids(table: sa.Table, condition: sa.ColumnElement[bool]) -> sa.Select[tuple[str]]:
    return sa.select(table.c.id).where(condition)
