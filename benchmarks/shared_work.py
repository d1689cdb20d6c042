"""A store with so many rows, and what hooks are told of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from holdfast.hub import ids, projection
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import (
    actions,
    agent_contexts,
    messages,
    projects,
    requests,
    sessions,
    subtasks,
    tasks,
)

SESSION = "bench"


def of_a_store(project: Path, rows: int) -> dict[str, Any]:
    """The projection of a busy session: most rows are its calls, the rest agents and words."""
    store = Store.open()
    store.write(lambda connection: _fill(connection, str(project), rows))
    found = store.read(lambda c: projection.build_projection(c, SESSION, int(time.time() * 1000)))
    store.close()
    return found


def _fill(connection: sa.Connection, path: str, rows: int) -> None:
    at = {"created_ms": 1_767_225_600_000}
    project = {"project_id": ids.project_id(path)}
    asked, listed = ids.new(), [ids.new() for _ in range(20)]
    words = "Teach the parser to read gauge files with two headings, and say which line was odd"
    connection.execute(
        sa.insert(projects), {"id": project["project_id"], "path": path, **at, "updated_ms": 1}
    )
    connection.execute(sa.insert(sessions), {"id": SESSION, **project, "started_ms": 1})
    request = {"id": asked, "session_id": SESSION, "prompt": words, **project, **at}
    connection.execute(sa.insert(requests), request)
    stages = [
        {"id": one, "request_id": asked, "name": words, "wave_number": n % 4, "status": "running"}
        for n, one in enumerate(listed)
    ]
    connection.execute(sa.insert(tasks), [{**one, **at} for one in stages])
    part = {"session_id": SESSION, "description": words, "agent_type": "reviewer", **at}
    parts = [
        {
            "id": ids.new(),
            "task_id": listed[n % 20],
            "agent_id": f"a{n}",
            "status": "running",
        }
        for n in range(200)
    ]
    connection.execute(sa.insert(subtasks), [{**part, **one} for one in parts])
    agent = {"agent_type": "reviewer", "session_id": SESSION, "updated_ms": 1}
    known = [{"id": ids.new(), "agent_id": f"a{n}", **agent, **project} for n in range(200)]
    connection.execute(sa.insert(agent_contexts), known)
    said = {"from_agent": "a1", "topic": "context.response", "content": {"message": words * 8}}
    posted = [{"id": ids.new(), **said, **project, **at, "expires_ms": 1} for _ in range(500)]
    connection.execute(sa.insert(messages), posted)
    call = {"session_id": SESSION, "tool_name": "Bash", "tool_type": "builtin", "input": words}
    calls = [{"id": ids.new(), **call, **project, **at} for _ in range(rows - 1_000)]
    connection.execute(sa.insert(actions), calls)
