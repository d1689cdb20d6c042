"""Do lists and the hierarchy stay as fast when there is much more? 1,000 sessions of 1,000 actions
against 10, on PostgreSQL, through the API.

    python -m benchmarks.lists
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from statistics import median

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from starlette.testclient import TestClient

from benchmarks.databases import both
from holdfast.api.app import create
from holdfast.hub import ids
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import put_project

Row = tuple[str, str, str]
FEW, MANY, ACTIONS = 10, 1_000, 1_000
ROUNDS = 25
PROJECT = ids.project_id("/bench")
ROUTES = {
    "sessions": "/api/sessions",
    "actions": "/api/actions",
    "actions of a session": "/api/actions?session_id=s1",
    "actions of a tool": "/api/actions?tool_name=Bash",
    "actions of a type": "/api/actions?tool_type=builtin",
    "actions of a project": f"/api/actions?project_id={PROJECT}",
    "subtasks by status": "/api/subtasks?status=running",
    "requests of a session": "/api/requests?session_id=s1",
    "subtasks of a session": "/api/subtasks?session_id=s1",
    "the hierarchy": f"/api/hierarchy/{PROJECT}?limit=10",
}


def rows() -> Iterator[Row]:
    few, many = measure((FEW, MANY))
    for name in ROUTES:
        ratio = many[name] / few[name]
        yield f"{name}, {MANY:,} sessions against {FEW}", f"{ratio:.2f}x", "≤ 1.5x"


def measure(sessions: Sequence[int]) -> list[dict[str, float]]:
    """Seconds of each route while there are so many sessions; the numbers must rise."""
    with both() as addresses:
        store = Store.open(addresses["PostgreSQL"])
        client = TestClient(create(store))
        found = []
        for first, last in pairwise((0, *sessions)):
            store.write(partial(_fill, first=first, last=last))
            found.append({name: _seconds(client, path) for name, path in ROUTES.items()})
        client.close()
        store.close()
    return found


def _seconds(client: TestClient, path: str) -> float:
    spent = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        if client.get(path).status_code != 200:
            raise RuntimeError(path)
        spent.append(time.perf_counter() - began)
    return median(spent)


def _fill(connection: Connection, first: int, last: int) -> None:
    """One request, one task and ten subtasks for each session, and its actions."""
    told = {"project": PROJECT, "first": first, "last": last - 1, "actions": ACTIONS}
    if not first:
        put_project(connection, {"path": "/bench"}, 1)
    for statement in FILLING:
        connection.execute(sa.text(statement), told)


SESSIONS = "generate_series(CAST(:first AS int), CAST(:last AS int)) AS s"
FILLING = (
    f"""INSERT INTO sessions (id, project_id, started_ms, total_tools_used, total_success)
        SELECT 's' || s, :project, s, :actions, :actions FROM {SESSIONS}""",
    f"""INSERT INTO requests
            (id, project_id, session_id, prompt, prompt_type, status, created_ms)
        SELECT 'r' || s, :project, 's' || s, 'do it', 'other', 'active', s FROM {SESSIONS}""",
    f"""INSERT INTO tasks (id, request_id, name, wave_number, status, created_ms)
        SELECT 't' || s, 'r' || s, 'task', 0, 'running', s FROM {SESSIONS}""",
    f"""INSERT INTO subtasks (id, task_id, session_id, description, status, created_ms)
        SELECT 'u' || s || '-' || n, 't' || s, 's' || s, 'part', 'running', s
        FROM {SESSIONS}, generate_series(1, 10) AS n""",
    f"""INSERT INTO actions
            (id, session_id, project_id, tool_name, tool_type, exit_code, created_ms)
        SELECT 'a' || s || '-' || n, 's' || s, :project, 'Bash', 'builtin', 0, s * 1000 + n
        FROM {SESSIONS}, generate_series(1, CAST(:actions AS int)) AS n""",
    "ANALYZE",
)


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ", file=sys.stdout, flush=True)
