"""Which messages are for an agent.

Those to it by name, always. Of those to everybody: not its own, those of its projects or of none,
and, where it has subscribed to something, only those of its topics. An agent nobody has placed on
a project hears every project: a client that does not say where it works must not miss its own.
"""

from __future__ import annotations

from typing import TypeAlias

import sqlalchemy as sa

from holdfast.hub.store.tables import (
    agent_contexts,
    messages,
    requests,
    sessions,
    subscriptions,
    subtasks,
    tasks,
    windows,
)

Condition = sa.ColumnElement[bool]
Name: TypeAlias = str | sa.BindParameter[str]  # or the place of one, in a query that is made once
Time: TypeAlias = int | sa.BindParameter[int]


def hears(agent_id: Name, project_id: Name | None, now_ms: Time) -> Condition:
    """As a condition on messages; without `project_id`, on the projects the agent is known on."""
    place = messages.c.project_id
    here = _known_place(agent_id) if project_id is None else place == project_id
    to_all = sa.and_(
        messages.c.to_agent.is_(None),
        messages.c.from_agent != agent_id,
        place.is_(None) | here,
        _wanted(agent_id),
    )
    return (messages.c.expires_ms > now_ms) & ((messages.c.to_agent == agent_id) | to_all)


def is_for(agent_id: str) -> Condition:
    """Whether it may be given to this agent at all."""
    return messages.c.to_agent.is_(None) | (messages.c.to_agent == agent_id)


def _wanted(agent_id: Name) -> Condition:
    mine = sa.select(subscriptions.c.topic).where(subscriptions.c.agent_id == agent_id)
    return ~mine.exists() | messages.c.topic.in_(mine)


def _known_place(agent_id: Name) -> Condition:
    branch = subtasks.join(tasks, tasks.c.id == subtasks.c.task_id).join(
        requests, requests.c.id == tasks.c.request_id
    )
    known = sa.union(
        sa.select(sessions.c.project_id).where(sessions.c.id == agent_id),
        sa.select(windows.c.project_id).where(windows.c.agent_id == agent_id),
        sa.select(agent_contexts.c.project_id).where(agent_contexts.c.agent_id == agent_id),
        sa.select(requests.c.project_id).select_from(branch).where(subtasks.c.agent_id == agent_id),
    ).subquery("known")
    placed = sa.select(known.c.project_id).where(known.c.project_id.is_not(None))
    return messages.c.project_id.in_(placed) | ~placed.exists()
