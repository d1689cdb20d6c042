"""Snapshots of sessions: saved through the API, found by the exact session, restored as a brief.
They are rows of agent contexts, and come from our hooks, clients of the API and older scripts.

Scripts send a list either as the list or as the whole answer it came in (`{"contexts": […]}`),
agent states also as an object keyed by the agent, and open tasks sometimes only inside the tree of
work. Readers see one form: lists hold items, the newest first where items are dated, and every open
task is in `active_tasks`. Items stay as they were saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.store import events
from holdfast.hub.store.rows import Row, rows
from holdfast.hub.store.tables import agent_contexts, projects
from holdfast.hub.tree import sessions

Items: TypeAlias = list[Any]
_SETTLED = ("completed", "failed", "cancelled", "deleted")
SNAPSHOT = "compact-snapshot"
# Who saves by himself: the guard, the watcher, a script's monitor. Clients know one word for all.
AUTOMATIC = ("proactive", "guard", "monitor", "watcher")
LISTS = ("active_tasks", "modified_files", "key_decisions")
MOST_AGENTS, MOST_MESSAGES, MOST_ACTIONS, MOST_TASKS = 50, 50, 100, 200
MOST_MERGED = 10  # snapshots of a session that are looked at


def save_snapshot(
    connection: Connection, session_id: str, snapshot: Mapping[str, Any], now_ms: int
) -> Row:
    """Add a row per save; an unknown session is created, in the project that the save names."""
    named = snapshot.get("project_id")
    known = sa.select(projects.c.id).where(projects.c.id == named)
    place = connection.scalar(known) if isinstance(named, str) else None
    project_id = sessions.meet(connection, session_id, place, now_ms)
    row: Row = {
        "id": ids.new(),
        "project_id": project_id,
        "agent_id": f"{SNAPSHOT}-{session_id}-{now_ms}",
        "agent_type": SNAPSHOT,
        "session_id": session_id,
        "status": "completed",
        "role_context": snapshot,
        "skills_to_restore": [],
        "tools_used": [],
        "progress_summary": snapshot.get("context_summary"),
        "compact_id": None,
        "updated_ms": now_ms,
    }
    connection.execute(sa.insert(agent_contexts), row)
    events.announce(
        connection,
        "snapshot.saved",
        {"id": row["id"], "trigger": snapshot.get("trigger")},
        project_id=project_id,
        session_id=session_id,
    )
    return row


def latest_snapshot(connection: Connection, session_id: str) -> Row | None:
    """Return the newest snapshot, with what it lacks from those before it."""
    table = agent_contexts.c
    mine = (table.session_id == session_id) & (table.agent_type == SNAPSHOT)
    query = sa.select(agent_contexts).where(mine).order_by(table.updated_ms.desc(), table.id)
    return _merge(rows(connection, query.limit(MOST_MERGED)))


def _merge(newest_first: Sequence[Row]) -> Row | None:
    """Return the newest snapshot; a field that it lacks is that of the newest one that has it. The
    summary of an automatic save says only that it was taken, so one that somebody wrote stays."""
    if not newest_first:
        return None
    merged: Row = {}
    for row in reversed(newest_first):
        held = row["role_context"] if isinstance(row["role_context"], dict) else {}
        said = {name: value for name, value in held.items() if value not in (None, "", [], {})}
        if held.get("trigger") in AUTOMATIC and "context_summary" in merged:
            said.pop("context_summary", None)
        merged |= said
    whole = {**newest_first[0], "role_context": merged}
    return {**whole, "progress_summary": merged.get("context_summary")}


def normalize(snapshot: Any) -> dict[str, Any]:
    """Return the snapshot in its normal form; normalizing twice changes nothing. Unknown fields
    stay."""
    snapshot = snapshot if isinstance(snapshot, dict) else {}
    tree = work_tree(snapshot.get("hierarchy"))
    lists = {name: items(snapshot.get(name)) for name in LISTS}
    tasks = [*lists["active_tasks"], *open_tasks(tree, snapshot.get("session_id"))]
    return {
        **snapshot,
        **lists,
        "context_summary": _text(snapshot.get("context_summary")),
        "wave_state": _waves(snapshot),
        "hierarchy": tree,
        "active_tasks": without_repeats(tasks)[:MOST_TASKS],
        "agent_states": agent_states(snapshot.get("agent_states")),
        "recent_messages": recent_messages(snapshot.get("recent_messages")),
        "recent_actions": recent_actions(snapshot.get("recent_actions")),
    }


def with_public_trigger(snapshot: Any) -> Any:
    """Return the snapshot with the trigger that clients know for a save that nobody asked for."""
    if isinstance(snapshot, dict) and snapshot.get("trigger") in AUTOMATIC:
        return {**snapshot, "trigger": AUTOMATIC[0]}
    return snapshot


def agent_states(value: Any) -> Items:
    """Return the states of agents. Earlier snapshots among them are left out: otherwise each would
    contain the last."""
    keyed = isinstance(value, dict) and not isinstance(value.get("contexts"), list)
    found = list(_from_keyed(value)) if keyed else items(value, "contexts")
    states = [one for one in found if _field(one, "agent_type") != SNAPSHOT]
    return states[:MOST_AGENTS]


def recent_messages(value: Any) -> Items:
    return _newest_first(items(value, "messages"))[:MOST_MESSAGES]


def recent_actions(value: Any) -> Items:
    return _newest_first(items(value, "actions"))[:MOST_ACTIONS]


def work_tree(value: Any) -> dict[str, Any]:
    """Return the project with its requests, once: the API returns them at the top and again
    inside."""
    tree: dict[str, Any] = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        tree = {"requests": value}
    inner = tree.get("hierarchy")
    if isinstance(inner, dict):
        about = {name: one for name, one in inner.items() if name != "requests"}
        tree = {"project": about, "requests": inner.get("requests")}
    return tree


def open_tasks(tree: Mapping[str, Any], session_id: Any) -> Iterator[dict[str, Any]]:
    """Yield the subtasks of this session's tree that are not over, and tasks without subtasks."""
    for request in requests_of(tree, session_id):
        for task in _below(request, "tasks"):
            parts = _below(task, "subtasks") or [task]
            yield from filter(_is_open_task, map(_as_task, parts))
    yield from filter(_is_open_task, map(_as_task, _below(tree, "earlier_subtasks")))


def requests_of(tree: Mapping[str, Any], session_id: Any) -> list[dict[str, Any]]:
    """Return the requests of this session, and those that name no session."""
    named = (None, session_id)
    return [one for one in _below(tree, "requests") if _field(one, "session_id") in named]


def is_open(task: Any) -> bool:
    """Whether a task, in any form that a snapshot may hold, has no final state."""
    return not (isinstance(task, dict) and task.get("status") in _SETTLED)


def _is_open_task(task: dict[str, Any]) -> bool:
    return is_open(task) and bool(task_words(task))


def without_repeats(tasks: Iterable[Any]) -> Items:
    """Return each task once, by its id or its words: tasks of our hooks have no id, those of the
    store do."""
    seen: set[str] = set()
    kept = []
    for task in tasks:
        name, words = task_id(task), task_words(task)
        if name not in seen and words not in seen:
            kept.append(task)
        seen.update(key for key in (name, words) if key)
    return kept


def task_id(task: Any) -> str:
    return _field(task, "id") or ""


def task_words(task: Any) -> str:
    return task if isinstance(task, str) else _field(task, "description") or ""


def items(value: Any, name: str = "") -> Items:
    """Return a list, or the list that an answer has under `name`; any other value is the only
    item."""
    if isinstance(value, dict) and isinstance(value.get(name), list):
        value = value[name]
    if isinstance(value, list):
        return [one for one in value if one not in (None, "")]
    return [] if value in (None, "", {}) else [value]


def _from_keyed(states: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, state in states.items():
        known = state if isinstance(state, dict) else {"status": state}
        yield {"agent_id": name, "agent_type": name, **known}


def _newest_first(found: Items) -> Items:
    dates = [_field(one, "created_at") for one in found]
    if not all(dates):
        return found
    order = sorted(range(len(found)), key=lambda n: str(dates[n]), reverse=True)
    return [found[n] for n in order]


def _waves(snapshot: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `wave_state` as it was saved, else the status of each wave in our own snapshot."""
    state = snapshot.get("wave_state")
    if isinstance(state, dict):
        return state
    waves = _below(snapshot, "waves")
    statuses = {f"wave {wave.get('wave_number')}": wave.get("status") for wave in waves}
    return statuses or None


def _as_task(row: dict[str, Any]) -> dict[str, Any]:
    """Return a task or subtask of the tree in the form of a task: a task has a name, a subtask a
    description."""
    words = _field(row, "description") or _field(row, "name") or ""
    return {
        "id": task_id(row),
        "description": words,
        "status": _field(row, "status"),
        "agent_type": _field(row, "agent_type"),
    }


def _below(row: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = row.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _field(row: Any, name: str) -> str | None:
    return _text(row.get(name)) if isinstance(row, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
