"""What the hub is measured with: a tree of 100 tasks of 10 subtasks, a snapshot of 50 KB, and
1,000 other sessions of 1,000 actions. Made by statements that both engines understand."""

from __future__ import annotations

import random
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from benchmarks.api import KINDS
from holdfast.hub.tree import projects

PATH, SESSION = "/work/app", "bench"
PROJECT = projects.id_of(PATH)
SESSIONS, ACTIONS = 1_000, 1_000
_WORDS = """the parser reads gauge files with two headings and reports odd lines before any test
begins again so that nobody waits for a station whose clock was set back""".split()  # noqa: SIM905


def words(chars: int, seed: int = 0) -> str:
    drawn, text = random.Random(f"{chars} {seed}"), ""
    while len(text) < chars:
        text += drawn.choice(_WORDS) + " "
    return text[:chars].strip()


def snapshot() -> dict[str, Any]:
    """50 KB, as a script sends it that gathers everything the interface tells."""
    at = "2026-01-01T10:00:00Z"
    task = {"status": "running", "agent_type": "backend"}
    message = {"from_agent": "a", "to_agent": "b", "topic": "task.completed", "created_at": at}
    action = {"tool_name": "Edit", "exit_code": 0, "created_at": at}
    return {
        "session_id": SESSION,
        "trigger": "auto",
        "context_summary": words(4_000),
        "active_tasks": [{"id": f"t{n}", "description": words(200, n), **task} for n in range(38)],
        "modified_files": [f"src/app/module_{n}/file_{n}.py" for n in range(100)],
        "key_decisions": [words(150, n) for n in range(30)],
        "agent_states": [
            {"agent_id": f"agent-{n}", "summary": words(300, n), **task} for n in range(20)
        ],
        "wave_state": {"current_wave": 2, "waves": 5},
        "recent_messages": [
            {"id": f"m{n}", "content": {"text": words(150, n)}, **message} for n in range(30)
        ],
        "recent_actions": [
            {"file_paths": [f"src/{n}.py"], "input": words(100, n), **action} for n in range(50)
        ],
    }


REQUESTS: dict[str, tuple[str, str, Any]] = {
    "save": ("POST", "/api/compact/save", snapshot()),
    "restore": (
        "POST",
        "/api/compact/restore",
        {"session_id": SESSION, "agent_id": "a1", "agent_type": "backend"},
    ),
    "hierarchy": ("GET", f"/api/hierarchy/{PROJECT}?limit=100", None),
    "message": ("POST", *KINDS["POST message"]),
    "action": ("POST", *KINDS["POST action"]),
}


def fill_tree(connection: Connection) -> None:
    """One session with ten requests of ten tasks of ten subtasks."""
    projects.put(connection, PATH, 1)
    _run(connection, _TREE)


def fill_others(connection: Connection) -> None:
    """Sessions, each with a request, a task and two subtasks, in projects of their own."""
    for n in range(10):
        projects.put(connection, f"/work/other-{n}", 1)
    ids = [projects.id_of(f"/work/other-{n}") for n in range(10)]
    place = "CASE s.n % 10 " + " ".join(f"WHEN {n} THEN '{one}'" for n, one in enumerate(ids))
    _run(connection, [statement.replace("PLACE", place + " END") for statement in _OTHERS])


def _run(connection: Connection, statements: list[str]) -> None:
    for statement in statements:
        connection.execute(sa.text(statement))


def _numbers(name: str, last: int) -> str:
    return f"{name}(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM {name} WHERE n < {last})"


_TENS = f"WITH RECURSIVE {_numbers('r', 10)}, {_numbers('t', 10)}, {_numbers('s', 10)}"
_TREE = [
    f"INSERT INTO sessions (id, project_id, started_ms) VALUES ('{SESSION}', '{PROJECT}', 1)",
    f"""INSERT INTO requests (id, project_id, session_id, prompt, prompt_type, status, created_ms)
        {_TENS} SELECT 'r' || r.n, '{PROJECT}', '{SESSION}', '{words(80)}', 'other', 'active', r.n
        FROM r""",
    f"""INSERT INTO tasks (id, request_id, name, wave_number, status, created_ms)
        {_TENS} SELECT 't' || r.n || '-' || t.n, 'r' || r.n, '{words(30)}', t.n % 4, 'running', t.n
        FROM r, t""",
    f"""INSERT INTO subtasks (id, task_id, session_id, description, agent_type, agent_id, status,
            created_ms)
        {_TENS} SELECT 'u' || r.n || '-' || t.n || '-' || s.n, 't' || r.n || '-' || t.n,
            '{SESSION}', '{words(60)}', 'backend', 'a' || s.n, 'running', s.n
        FROM r, t, s""",
]
_MANY = f"WITH RECURSIVE {_numbers('s', SESSIONS)}, {_numbers('a', ACTIONS)}"
_OTHERS = [
    f"""INSERT INTO sessions (id, project_id, started_ms, total_tools_used, total_success)
        {_MANY} SELECT 's' || s.n, PLACE, s.n, {ACTIONS}, {ACTIONS} FROM s""",
    f"""INSERT INTO requests (id, project_id, session_id, prompt, prompt_type, status, created_ms)
        {_MANY} SELECT 'o' || s.n, PLACE, 's' || s.n, 'do it', 'other', 'active', s.n FROM s""",
    f"""INSERT INTO tasks (id, request_id, name, wave_number, status, created_ms)
        {_MANY} SELECT 'p' || s.n, 'o' || s.n, 'task', 0, 'running', s.n FROM s""",
    f"""INSERT INTO subtasks (id, task_id, session_id, description, status, created_ms)
        {_MANY} SELECT 'q' || s.n || '-' || a.n, 'p' || s.n, 's' || s.n, 'part', 'running', s.n
        FROM s, a WHERE a.n < 3""",
    f"""INSERT INTO actions
            (id, session_id, project_id, tool_name, tool_type, exit_code, created_ms)
        {_MANY} SELECT 'a' || s.n || '-' || a.n, 's' || s.n, PLACE, 'Bash', 'builtin', 0,
            s.n * 1000 + a.n
        FROM s, a""",
]
