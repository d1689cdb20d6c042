"""What is known of each agent: while it works, its row follows its newest open subtask. And
snapshots of sessions, which are rows of the same table: saved through the API, found by the exact
session, restored as a brief. They come from our hooks, clients of the API and older scripts.

Scripts send a list either as the list or as the whole answer it came in (`{"contexts": […]}`),
agent states also as an object keyed by the agent, and open tasks sometimes only inside the tree of
work. Readers see one form: lists hold items, the newest first where items are dated, and every open
task is in `active_tasks`. Items stay as they were saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import sqlalchemy as sa

from holdfast.hub import ids, row_times
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.store.tables import agent_contexts, requests, subtasks, tasks
from holdfast.hub.tree.waves import ENDED

Items: TypeAlias = list[Any]
_SETTLED = ("completed", "failed", "cancelled", "deleted")
SNAPSHOT = "compact-snapshot"
# Who saves unasked: the guard, the watcher, a script's monitor. Clients know the first for all.
AUTOMATIC = ("proactive", "guard", "monitor", "watcher")
LISTS = ("active_tasks", "modified_files", "key_decisions")
MOST_AGENTS, MOST_TASKS = 50, 200
UNUSED: Row = {"skills_to_restore": [], "tools_used": []}
MOST_MERGED = 10  # snapshots of a session that are looked at


def latest_snapshot(connection: sa.Connection, session_id: str) -> Row | None:
    """Return the newest snapshot, with what it lacks from those before it."""
    table = agent_contexts.c
    mine = (table.session_id == session_id) & (table.agent_type == SNAPSHOT)
    order = table.updated_ms.desc(), table.id.desc()
    return _merge(db.fetch(connection, agent_contexts, mine, order=order, most=MOST_MERGED))


def _merge(newest_first: Sequence[Row]) -> Row | None:
    """Return the newest snapshot; a field that it lacks is that of the newest one that has it:
    `saved_ms` has the time of each. `summaries` has the time of all: the newest may say only that
    it was saved."""
    if not newest_first:
        return None
    merged: Row = {}
    saved_ms: dict[str, int] = {}
    summaries: dict[str, str] = {}
    for row in newest_first:
        held = row["role_context"] if isinstance(row["role_context"], dict) else {}
        given = {name: value for name, value in held.items() if value not in (None, "", [], {})}
        merged = {**given, **merged}
        saved_ms = {**dict.fromkeys(given, row["updated_ms"]), **saved_ms}
        if words := (_text(held.get("context_summary")) or "").strip():
            when = (row_times.to_iso(row["updated_ms"]) or "")[:16]
            summaries.setdefault(words, f"saved {when}Z")
    whole = {**newest_first[0], "progress_summary": merged.get("context_summary")}
    return {**whole, "role_context": merged, "summaries": summaries, "saved_ms": saved_ms}


def normalize(snapshot: Any) -> dict[str, Any]:
    """Return the snapshot in its normal form; unknown fields stay. Doing it twice is harmless."""
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


def agent_states(value: Any) -> Items:
    """Return the states of agents, without snapshots: otherwise each would contain the last."""
    keyed = isinstance(value, dict) and not isinstance(value.get("contexts"), list)
    found = list(_from_keyed(value)) if keyed else items(value, "contexts")
    states = [one for one in found if _field(one, "agent_type") != SNAPSHOT]
    return states[:MOST_AGENTS]


def _recent(value: Any, name: str, most: int) -> Items:
    """Return the newest, first where each has a date."""
    found = items(value, name)
    if all(_field(one, "created_at") for one in found):
        found.sort(key=lambda one: str(one["created_at"]), reverse=True)
    return found[:most]


recent_messages = partial(_recent, name="messages", most=50)
recent_actions = partial(_recent, name="actions", most=100)


def work_tree(value: Any) -> dict[str, Any]:
    """Return the project with its requests once; the API returns them at two places."""
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
    tasks = [task for request in requests_of(tree, session_id) for task in _below(request, "tasks")]
    parts = [part for task in tasks for part in _below(task, "subtasks") or [task]]
    for task in map(_as_task, [*parts, *_below(tree, "earlier_subtasks")]):
        if task["status"] not in _SETTLED and task_words(task):
            yield task


def requests_of(tree: Mapping[str, Any], session_id: Any) -> list[dict[str, Any]]:
    """Return the requests of this session, and those that name no session."""
    named = (None, session_id)
    return [one for one in _below(tree, "requests") if _field(one, "session_id") in named]


def without_repeats(tasks: Iterable[Any]) -> Items:
    """Return each task once, by its id or its words: tasks of our hooks have no id."""
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
    """Return a list, or the one that an answer has under `name`; else the value as one item."""
    if isinstance(value, dict) and isinstance(value.get(name), list):
        value = value[name]
    if isinstance(value, list):
        return [one for one in value if one not in (None, "")]
    return [] if value in (None, "", {}) else [value]


def _from_keyed(states: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, state in states.items():
        known = state if isinstance(state, dict) else {"status": state}
        yield {"agent_id": name, "agent_type": name, **known}


def _waves(snapshot: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `wave_state` as it was saved, else the status of each wave in our own snapshot."""
    state = snapshot.get("wave_state")
    if isinstance(state, dict):
        return state
    waves = _below(snapshot, "waves")
    statuses = {f"wave {wave.get('wave_number')}": wave.get("status") for wave in waves}
    return statuses or None


def _as_task(row: dict[str, Any]) -> dict[str, Any]:
    """Return a task, which has a name, or a subtask, which has a description, as a task."""
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


def list_page(
    connection: sa.Connection, limit: int, offset: int, *, agent_id: str | None = None, **of: Any
) -> Page:
    """List contexts, newest first. A snapshot is also found by the id of its session."""
    table = agent_contexts.c
    snapshot = (table.agent_type == SNAPSHOT) & (table.session_id == agent_id)
    where = [] if agent_id is None else [(table.agent_id == agent_id) | snapshot]
    order = (table.updated_ms.desc(), table.id)
    page = db.page(connection, limit, offset, table=agent_contexts, order=order, where=where, **of)
    for row in page.rows:
        role = row["role_context"] if row["agent_type"] == SNAPSHOT else None
        if isinstance(role, dict) and role.get("trigger") in AUTOMATIC:
            row["role_context"] = {**role, "trigger": AUTOMATIC[0]}
    return page


def figures(connection: sa.Connection) -> dict[str, Any]:
    """Count contexts, in total and by type and status."""
    of_type = _count_by(connection, agent_contexts.c.agent_type)
    of_status = _count_by(connection, agent_contexts.c.status)
    most_first = sorted(of_type.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "stats": {
            "total": sum(of_type.values()),
            "unique_types": len(of_type),
            **{name: of_status.get(name, 0) for name in ("running", "completed", "failed")},
        },
        "type_distribution": [{"agent_type": name, "count": n} for name, n in most_first],
    }


def tools_used(connection: sa.Connection) -> dict[str, int]:
    """Count for each tool the contexts that used it."""
    query = sa.select(agent_contexts.c.tools_used).order_by(agent_contexts.c.updated_ms.desc())
    found: dict[str, int] = {}
    for row in db.rows(connection, query.limit(1000)):
        for tool in row["tools_used"] or ():
            found[str(tool)] = found.get(str(tool), 0) + 1
    return found


def _count_by(connection: sa.Connection, column: sa.Column[Any]) -> dict[str, int]:
    query = sa.select(column, sa.func.count()).group_by(column)
    return {str(name): int(n) for name, n in connection.execute(query) if name is not None}


def follow(connection: sa.Connection, session_id: str, agent_id: str, now_ms: int) -> None:
    """Update the agent's row after one of its subtasks changed; delete it with the last of them.
    What the agent reported itself stays until it works on something else."""
    row_id = ids.context_id(session_id, agent_id)
    subtask = _at_work_on(connection, session_id, agent_id)
    if subtask is None:
        connection.execute(sa.delete(agent_contexts).where(agent_contexts.c.id == row_id))
        return
    held = db.find(connection, row_id, table=agent_contexts, lock=True) or {}
    before = held.get("role_context") or {}
    is_new = before.get("subtask_id") != subtask["id"]
    if is_new:
        before = {name: value for name, value in before.items() if name not in REPORTED}
    known = {
        "project_id": subtask["project_id"],
        "agent_type": subtask["agent_type"],
        "status": subtask["status"],
        "role_context": {**before, **_role(connection, subtask)},
        "progress_summary": None if is_new else held["progress_summary"],
        "updated_ms": now_ms,
    }
    row = {"id": row_id, "agent_id": agent_id, "session_id": session_id, **UNUSED, **known}
    connection.execute(db.upsert(connection, agent_contexts, ["id"], row, known))


def _at_work_on(connection: sa.Connection, session_id: str, agent_id: str) -> Row | None:
    table = subtasks.c
    query = sa.select(subtasks, requests.c.project_id)
    query = query.select_from(subtasks.join(tasks).join(requests)).where(
        table.agent_id == agent_id,
        table.session_id == session_id,
        table.agent_type.is_not(None),
        table.status.not_in(ENDED),
    )
    order = ((table.status == "running").desc(), table.created_ms.desc(), table.id.desc())
    return db.first(connection, query.order_by(*order).limit(1))


def _role(connection: sa.Connection, subtask: Row) -> Row:
    return {
        "status": subtask["status"],
        "session_id": subtask["session_id"],
        "subtask_id": subtask["id"],
        "task_list_id": subtask["task_id"],
        "task_description": subtask["description"],
        "current_task": subtask["description"],
        "parent_agent_id": subtask["parent_agent_id"],
        "spawned_at": row_times.to_iso(subtask["started_ms"] or subtask["created_ms"]),
        "blocked_by": subtask["blocked_by"] or [],
        "blockers": _names(connection, subtask["blocked_by"] or []),
    }


def _names(connection: sa.Connection, subtask_ids: Sequence[str]) -> list[str]:
    """Return what these subtasks are about: an id says nothing to who waits for it."""
    if not subtask_ids:
        return []
    named = subtasks.c.id.in_(subtask_ids)
    found = db.fetch(connection, subtasks, named, order=[subtasks.c.created_ms])
    return [row["description"] for row in found]


REPORTED = ("progress", "next_steps")  # of one task
ABOUT = ("language", "framework")  # of the agent, whatever it works on


def report(connection: sa.Connection, context_id: str, given: Row, now_ms: int) -> Row:
    """Note what an agent reports of itself and its work, and `progress_summary`."""
    before = db.get(connection, context_id, table=agent_contexts, lock=True)
    told = {name: given[name] for name in (*REPORTED, *ABOUT) if name in given}
    changes = {
        "role_context": {**(before["role_context"] or {}), **told},
        "progress_summary": given.get("progress_summary", before["progress_summary"]),
        "updated_ms": now_ms,
    }
    db.update(connection, agent_contexts, context_id, changes)
    db.announce(connection, "agent.progress", {"agent_id": before["agent_id"], **told}, before)
    return {**before, **changes}


MOST_TOOLS, MOST_SKILLS = 200, 50


def note_call(connection: sa.Connection, action: Row, agent_id: str) -> None:
    """Count a posted tool call in the row of its agent, if that has one."""
    row_id = ids.context_id(action["session_id"], agent_id)
    row = db.find(connection, row_id, table=agent_contexts, lock=True)
    if row is None:
        return
    changes = count_tool(row, action["tool_name"], 1)
    if action["tool_type"] == "skill":
        changes["skills_to_restore"] = add_skills(row, [action["tool_name"]])
    db.update(connection, agent_contexts, row_id, changes)


def count_tool(row: Row, tool: str, more: int) -> Row:
    """Return the changes after so many calls: those of each tool, the most used first."""
    role = row["role_context"] or {}
    counts = {**role.get("tool_counts", {})}
    counts[tool] = counts.get(tool, 0) + more
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    kept = {name: n for name, n in ranked[:MOST_TOOLS] if n > 0}
    return {"role_context": {**role, "tool_counts": kept}, "tools_used": list(kept)}


def add_skills(row: Row, used: Sequence[str]) -> list[str]:
    """Return the skills of an agent, the last used one last."""
    known = [skill for skill in row["skills_to_restore"] or [] if skill not in used]
    return [*known, *list(dict.fromkeys(reversed(used)))[::-1]][-MOST_SKILLS:]
