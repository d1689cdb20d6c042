"""Where work is done: projects (one per path; the id is made from it, so every machine has the same
one), their sessions (any non-empty text is an id, as Claude Code gives it), what a client saves of
a session, who is at work now, and each tool call, with the sums it leaves in its session.

Calls and snapshots written here are sent over HTTP; `ingest/writers` write those read from
transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

import sqlalchemy as sa

from holdfast.hub import ids, row_times
from holdfast.hub.errors import AlreadyThere, Refused
from holdfast.hub.store import rows as db
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.store.tables import (
    actions,
    agent_contexts,
    compactions,
    projects,
    readings,
    requests,
    sessions,
    subtasks,
    tasks,
)
from holdfast.hub.tree import contexts
from holdfast.hub.tree.contexts import SNAPSHOT
from holdfast.text.sentences import title_of

ACTIVE_MS = 30 * 60_000
FAR_MS = 1 << 53
TOTALS = ("total_tools_used", "total_success", "total_errors")
SUMS = (*TOTALS, "total_duration_ms", "timed_actions")
LAST_MS = sa.func.coalesce(sessions.c.seen_ms, sessions.c.started_ms)
_PLACE = (projects.c.path.label("project_path"), projects.c.name.label("project_name"))
_NEWEST = (sessions.c.started_ms.desc(), sessions.c.id)


def add(connection: sa.Connection, row: Row, now_ms: int) -> Row:
    """Add a session; `row` holds columns of the table, including `id`."""
    if row.get("project_id") is not None:
        get_project(connection, row["project_id"])
    whole = {"started_ms": now_ms, "seen_ms": now_ms, **row}
    if not db.put_new(connection, sessions, whole):
        raise AlreadyThere("Session already exists", row["id"])
    db.tell(connection, "session.started", whole, session_id=row["id"])
    return get(connection, row["id"])


def meet(
    connection: sa.Connection, session_id: str, project_id: str | None, now_ms: int, **more: int
) -> str | None:
    """Create the session if it is new, note activity at this time, and add `more` to its sums. A
    session that has no project gets this one. Return its project."""
    row = {"id": session_id, "project_id": project_id, "started_ms": now_ms, "seen_ms": now_ms}
    if db.put_new(connection, sessions, row):
        db.tell(connection, "session.started", row, session_id=session_id)
    sums = {f"more_{name}": more.get(name, 0) for name in SUMS}
    about = {"whose": session_id, "place": project_id, "now_ms": now_ms}
    place: str | None = connection.scalar(_MET, {**about, **sums})
    return place


def _met() -> sa.Executable:
    """Build the statement once: it is half of what a call costs."""
    table, now_ms = sessions.c, sa.bindparam("now_ms", type_=sa.BigInteger)
    changes = {
        "seen_ms": sa.case((table.seen_ms > now_ms, table.seen_ms), else_=now_ms),
        "project_id": sa.func.coalesce(table.project_id, sa.bindparam("place", type_=sa.Text)),
        **{name: table[name] + sa.bindparam(f"more_{name}") for name in SUMS},
    }
    change = sa.update(sessions).where(table.id == sa.bindparam("whose")).values(changes)
    return change.returning(table.project_id)


_MET = _met()


def _add_call(connection: sa.Connection, action: Row) -> None:
    """Add a call to the sums of its session. A new session begins with it."""
    failed, took = int(action["exit_code"] != 0), action["duration_ms"]
    numbers = (1, 1 - failed, failed, took or 0, int(took is not None))
    more = dict(zip(SUMS, numbers, strict=True))
    meet(connection, action["session_id"], action["project_id"], action["created_ms"], **more)


find, get = partial(db.find, table=sessions), partial(db.get, table=sessions)


def list_page(
    connection: sa.Connection,
    limit: int,
    offset: int,
    *,
    now_ms: int,
    active_only: bool = False,
    **of: Any,
) -> Page:
    """List sessions, newest first. Active means not ended, or ended less than half an hour ago."""
    where = [_is_active(now_ms)] if active_only else []
    return db.page(connection, limit, offset, table=sessions, order=_NEWEST, where=where, **of)


def list_past(
    connection: sa.Connection,
    limit: int,
    offset: int,
    *,
    project_id: str | None = None,
    since_ms: int = 0,
    until_ms: int = FAR_MS,
    least_ms: int = 0,
    least_compactions: int = 0,
    session_ids: Collection[str] | None = None,
) -> Page:
    """List sessions as a history does, the last used first: each with its `project` by name."""
    name = sa.func.coalesce(projects.c.name, projects.c.path).label("project")
    query = (
        sa.select(sessions, name)
        .join_from(sessions, projects, isouter=True)
        .where(
            *db.matching(sessions, project_id=project_id),
            sessions.c.compact_count >= least_compactions,
            LAST_MS - sessions.c.started_ms >= least_ms,
            since_ms <= LAST_MS,
            sessions.c.started_ms <= until_ms,
        )
    )
    if session_ids is not None:
        query = query.where(sessions.c.id.in_(session_ids))
    return db.fetch_page(connection, query.order_by(LAST_MS.desc(), sessions.c.id), limit, offset)


def titles(connection: sa.Connection, session_ids: set[str]) -> dict[str, str]:
    """Return the title of each session, from its first request: it stays the same."""
    found = prompts(connection, session_ids, sa.func.min)
    return {name: title_of(row["prompt"]) for name, row in found.items()}


def prompts(
    connection: sa.Connection, session_ids: set[str], which: Any = sa.func.max
) -> dict[str, Row]:
    """Return the newest request of each session, or the first with `func.min`."""
    table = requests.c
    mine = table.session_id.in_(session_ids), table.prompt != ""
    times = sa.select(table.session_id, which(table.created_ms).label("at_ms"))
    one = times.where(*mine).group_by(table.session_id).subquery()
    same = (table.session_id == one.c.session_id) & (table.created_ms == one.c.at_ms)
    columns = table.session_id, table.prompt, table.metadata
    query = sa.select(*columns).join(one, same).where(table.prompt != "")
    return {row["session_id"]: row for row in db.rows(connection, query)}


def _is_active(now_ms: int) -> sa.ColumnElement[bool]:
    return sessions.c.ended_ms.is_(None) | (sessions.c.ended_ms > now_ms - ACTIVE_MS)


def change(connection: sa.Connection, session_id: str, changes: Row, _now_ms: int) -> Row:
    if not changes:
        raise Refused("No fields to update")
    before = get(connection, session_id)
    db.update(connection, sessions, session_id, changes)
    kind = "session.ended" if changes.get("ended_ms") is not None else "session.changed"
    return db.tell(connection, kind, {**before, **changes}, session_id=session_id)


def note_compaction(
    connection: sa.Connection, session_id: str, summary: str, agent: str, now_ms: int
) -> None:
    """Record that this session's window was compacted. An unknown session is not created."""
    changes: Row = {"compacted_ms": now_ms, "compact_agent": agent}
    changes["compact_count"] = sessions.c.compact_count + 1
    changes |= {"compact_summary": summary} if summary else {}
    noted = sa.update(sessions).where(sessions.c.id == session_id).values(changes)
    if connection.execute(noted).rowcount:
        db.announce(connection, "session.compacted", {"agent": agent}, session_id=session_id)


def remove(connection: sa.Connection, session_id: str, _now_ms: int) -> None:
    db.remove(connection, sessions, id=session_id)
    for table in (readings, compactions):
        connection.execute(sa.delete(table).where(table.c.session_id == session_id))
    db.announce(connection, "session.removed", session_id=session_id)


def stats(connection: sa.Connection, now_ms: int) -> dict[str, Any]:
    """Count sessions: in total and by project."""
    sums: Row = {"active_sessions": sa.case((_is_active(now_ms), 1), else_=0)}
    sums |= {name: sessions.c[name] for name in TOTALS}
    columns: list[sa.ColumnElement[Any]] = [
        sa.func.count().label("total_sessions"),
        *(_sum(column).label(name) for name, column in sums.items()),
        sa.func.min(sessions.c.started_ms).label("oldest"),
        sa.func.max(sessions.c.started_ms).label("newest"),
    ]
    [found] = db.rows(connection, sa.select(*columns))
    oldest, newest = found.pop("oldest"), found.pop("newest")
    n, tools = found["total_sessions"], int(found["total_tools_used"])
    by_project = sa.select(
        *_PLACE,
        sa.func.count().label("session_count"),
        _sum(sessions.c.total_tools_used).label("total_tools"),
    ).join_from(sessions, projects)
    by_project = by_project.group_by(projects.c.id, projects.c.name, projects.c.path)
    by_project = by_project.order_by(sa.func.count().desc(), projects.c.path).limit(100)
    overview: Row = {name: int(value) for name, value in found.items()}
    overview |= {"total_tools": tools, "avg_tools_per_session": tools / n if n else 0.0}
    overview["oldest_session"] = row_times.to_iso(oldest)
    overview["newest_session"] = row_times.to_iso(newest)
    listed = db.rows(connection, by_project)
    totals = [{**row, "total_tools": int(row["total_tools"])} for row in listed]
    return {"overview": overview, "by_project": totals}


def _sum(column: Any) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.func.sum(column), 0)


_SHOWN = ("agent_type", "agent_id", "description", "started_ms", "created_ms", "session_id")


def agents_at_work(connection: sa.Connection, limit: int, offset: int) -> list[Row]:
    """List running subtasks, newest first."""
    done = sa.select(sa.func.count()).where(actions.c.subtask_id == subtasks.c.id)
    query = sa.select(
        subtasks.c.id.label("subtask_id"),
        *(subtasks.c[name] for name in _SHOWN),
        tasks.c.request_id,
        *_PLACE,
        done.scalar_subquery().label("actions_count"),
    ).select_from(subtasks.join(tasks).join(requests).join(projects))
    query = query.where(subtasks.c.status == "running").order_by(*db.newest_first(subtasks))
    return db.rows(connection, query.limit(limit).offset(offset))


def live_sessions(connection: sa.Connection, limit: int, offset: int, now_ms: int) -> Page:
    """List active sessions with their project."""
    query = sa.select(sessions, *_PLACE).join_from(sessions, projects, isouter=True)
    query = query.where(_is_active(now_ms)).order_by(*_NEWEST)
    return db.fetch_page(connection, query, limit, offset)


def session_as_agent(session: Row) -> Row:
    """Describe a session without running agents as its own agent."""
    whose = {"agent_id": session["id"], "session_id": session["id"], "agent_type": "session"}
    work = {"subtask_id": None, "request_id": None, "description": ""}
    known = {"created_ms": session["started_ms"], "actions_count": session["total_tools_used"]}
    return {**session, **whose, **work, **known}


MOST_NAME = 200  # characters


def project_name(path: str) -> str | None:
    """The default name of a project is that of its folder."""
    return path.rstrip("/").rpartition("/")[2][:MOST_NAME] or None


def put_project(connection: sa.Connection, given: Row, now_ms: int) -> Row:
    """Create or update the project at a path; a name stays, metadata is merged one level deep."""
    path, name, metadata = given["path"], given.get("name"), given.get("metadata") or {}
    project_id = ids.project_id(path)
    if _create_project(connection, path, now_ms, name, metadata):
        return get_project(connection, project_id)
    before = get_project(connection, project_id, lock=True)
    changes = {
        "path": ids.tidy(path),  # one recovered from a damaged file has none until it is reported
        "updated_ms": max(now_ms, before["updated_ms"]),
        "name": before["name"] if name is None else name,
        "metadata": {**(before["metadata"] or {}), **metadata},
    }
    db.update(connection, projects, project_id, changes)
    return {**before, **changes}


def meet_project(connection: sa.Connection, path: str, at_ms: int) -> None:
    """Create the project if it is new, with the name that it gets when its sessions are read."""
    _create_project(connection, path, at_ms, project_name(path), {})


def _create_project(
    connection: sa.Connection, path: str, at_ms: int, name: str | None, metadata: dict[str, Any]
) -> bool:
    """Create the project; return False if it existed. Of several at once, one succeeds."""
    project_id, path = ids.project_id(path), ids.tidy(path)
    row = {"id": project_id, "path": path, "name": name, "metadata": metadata}
    is_new = db.put_new(connection, projects, {**row, "created_ms": at_ms, "updated_ms": at_ms})
    if is_new:
        db.announce(connection, "project.created", {"path": path}, project_id=project_id)
    return is_new


get_project = partial(db.get, table=projects)
_LAST_USED = (projects.c.updated_ms.desc(), projects.c.id)
list_projects = partial(db.page, table=projects, order=_LAST_USED)


def remove_project(connection: sa.Connection, project_id: str, _now_ms: int) -> None:
    """Delete the project and everything that belongs to it."""
    get_project(connection, project_id)
    connection.execute(sa.delete(projects).where(projects.c.id == project_id))
    db.announce(connection, "project.removed", project_id=project_id)


def _figures_of_project() -> sa.Select[Any]:
    """Build the query for figures: rows are counted, calls are the sums of the sessions."""
    project_id = sa.bindparam("project_id", type_=sa.Text)
    below = {
        "total_requests": requests,
        "total_tasks": requests.join(tasks),
        "total_subtasks": requests.join(tasks).join(subtasks),
    }
    number = sa.select(sa.func.count()).where(requests.c.project_id == project_id)
    counts = (number.select_from(branch).label(name) for name, branch in below.items())
    sums = (sa.func.sum(sessions.c[name]).label(name) for name in SUMS)
    query = sa.select(*counts, *sums, sa.func.max(sessions.c.seen_ms).label("seen_ms"))
    return query.where(sessions.c.project_id == project_id)


_FIGURES = _figures_of_project()  # built once: that takes longer than to run it


def project_figures(connection: sa.Connection, project_id: str) -> tuple[Row, Row]:
    """Return a project and its figures."""
    project = get_project(connection, project_id)
    [found] = db.rows(connection, _FIGURES, {"project_id": project_id})
    figures = {name: int(value or 0) for name, value in found.items()}
    timed = figures["timed_actions"]
    return project, {
        "project_id": project_id,
        "project_name": project["name"],
        "path": project["path"],
        **figures,
        "total_actions": figures["total_tools_used"],
        "successful_actions": figures["total_success"],
        "avg_duration_ms": figures["total_duration_ms"] / timed if timed else None,
        "last_activity_ms": max(figures["seen_ms"], project["updated_ms"]),
    }


HOUR_MS = 3_600_000
NEWEST = 10_000  # top tools are those of the newest calls: a million are not counted again
MOST_KEYWORDS = 10
_READ_CHARS = 4_000
_WORD = re.compile(r"[^\W\d_]{3,}")
_STOPWORDS = frozenset(["the", "and", "for", "with", "from", "that", "this", "into", "not", "are"])
_UNLISTED = ("project_id", "agent_id", "input", "output")
_LISTED = [column for column in actions.c if column.name not in _UNLISTED]
list_actions = partial(db.page, table=actions, columns=_LISTED)


def add_action(connection: sa.Connection, given: Row, now_ms: int) -> Row:
    """Add what a client sent, and its project and session if they are new."""
    given = dict(given)
    path, subtask_id = given.pop("project_path", None), given.get("subtask_id")
    subtask = db.get(connection, subtask_id, table=subtasks) if subtask_id else {}
    row = {
        **dict.fromkeys(("input", "output", "agent_id", "subtask_id", "duration_ms")),
        "exit_code": 0,
        "file_paths": [],
        **given,
        "id": ids.in_order(now_ms),
        "session_id": given.get("session_id") or subtask.get("session_id"),
        "project_id": ids.project_id(path) if path else None,
        "created_ms": now_ms,
        "keywords": keywords(given.get("input"), given.get("file_paths", ())),
    }
    if path:
        meet_project(connection, path, now_ms)
    if row["session_id"]:
        _add_call(connection, row)
    connection.execute(sa.insert(actions), row)
    agent_id = row["agent_id"] or subtask.get("agent_id")
    if agent_id and row["session_id"]:
        contexts.note_call(connection, row, agent_id)
    shown = ("id", "tool_name", "tool_type", "exit_code")
    return db.tell(connection, "action.created", row, *shown, at_ms=now_ms)


def hourly(connection: sa.Connection, now_ms: int, session_id: str | None = None) -> list[Row]:
    """Count the actions of each hour of the last day; hours without any are left out."""
    hour = (actions.c.created_ms // HOUR_MS).label("hour")
    since = actions.c.created_ms > now_ms - 24 * HOUR_MS
    query = sa.select(hour, sa.func.count().label("count"))
    query = query.where(since, *db.matching(actions, session_id=session_id))
    return [
        {"hour": row_times.to_iso(int(row["hour"]) * HOUR_MS), "count": row["count"]}
        for row in db.rows(connection, query.group_by(hour).order_by(hour))
    ]


def top_tools(connection: sa.Connection, limit: int, tool_type: str | None = None) -> list[Row]:
    """Return the tools called most among the newest calls."""
    newest = sa.select(actions.c.tool_name, actions.c.tool_type)
    newest = newest.where(*db.matching(actions, tool_type=tool_type))
    seen = newest.order_by(*db.newest_first(actions)).limit(NEWEST).subquery()
    n = sa.func.count().label("count")
    query = sa.select(*seen.c, n).group_by(*seen.c)
    return db.rows(connection, query.order_by(n.desc(), seen.c.tool_name).limit(limit))


def keywords(text: str | None, paths: Iterable[str]) -> list[str]:
    """Return the first ten different words that mean something."""
    words = " ".join((text or "", *paths))[:_READ_CHARS].lower()
    found = dict.fromkeys(word for word in _WORD.findall(words) if word not in _STOPWORDS)
    return list(found)[:MOST_KEYWORDS]


def save_snapshot(
    connection: sa.Connection, session_id: str, snapshot: Mapping[str, Any], now_ms: int
) -> Row:
    """Add a row per save; an unknown session is created, in the project that the save names."""
    named = snapshot.get("project_id")
    known = sa.select(projects.c.id).where(projects.c.id == named)
    place = connection.scalar(known) if isinstance(named, str) else None
    project_id = meet(connection, session_id, place, now_ms)
    trigger = snapshot.get("trigger")
    row: Row = {
        "id": ids.in_order(now_ms),
        "project_id": project_id,
        "agent_id": f"{SNAPSHOT}-{session_id}-{now_ms}",
        "agent_type": SNAPSHOT,
        "session_id": session_id,
        "status": "completed",
        "role_context": snapshot,
        **contexts.UNUSED,
        "progress_summary": snapshot.get("context_summary"),
        "updated_ms": now_ms,
    }
    connection.execute(sa.insert(agent_contexts), row)
    db.announce(connection, "snapshot.saved", {"id": row["id"], "trigger": trigger}, row)
    return row
