"""Rows as a projection tells them: short, in the words of the API, secrets out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from holdfast.hub import row_times
from holdfast.hub.clean_text import clean
from holdfast.hub.store.rows import Row
from holdfast.hub.tree.waves import SETTLED, judge

WORDS, SHORT = 600, 200


def hierarchy(project: Row, asked: list[Row], listed: list[Row], parts: list[Row]) -> Row:
    """The tree of the request being worked on."""
    below: dict[str, list[Row]] = {}
    for part in parts:
        below.setdefault(part["task_id"], []).append(subtask(part))
    of_tasks = [{**task(one), "subtasks": below.pop(one["id"], [])} for one in listed]
    told = [{**request(one), "tasks": of_tasks} for one in asked]
    earlier = [one for some in below.values() for one in some if one["status"] not in SETTLED]
    found: Row = {"project": {"id": project.get("id"), "path": project.get("path")}}
    found["requests"] = told
    return {**found, "earlier_subtasks": earlier} if earlier else found


def waves(listed: Iterable[Row]) -> list[Row]:
    """How each wave of the request stands."""
    tallies: dict[int, Counter[str]] = {}
    for one in listed:
        tallies.setdefault(one["wave_number"], Counter())[one["status"]] += 1
    return [
        {
            "wave_number": number,
            "tasks": tallies[number].total(),
            "completed": tallies[number]["completed"],
            "status": status,
        }
        for number, status in judge(tallies).items()
    ]


def request(row: Row) -> Row:
    told = {"id": row["id"], "prompt": clean(row["prompt"], WORDS), "status": row["status"]}
    return {**told, "created_at": row_times.written(row["created_ms"])}


def task(row: Row) -> Row:
    told = {"id": row["id"], "name": clean(row["name"], SHORT), "status": row["status"]}
    return {**told, "wave_number": row["wave_number"]}


def subtask(row: Row) -> Row:
    return {
        "id": row["id"],
        "session_id": row["session_id"],
        "agent_id": row["agent_id"],
        "agent_type": row["agent_type"],
        "description": clean(row["description"], SHORT),
        "status": row["status"],
    }


def agent(row: Row) -> Row:
    return {
        "agent_id": row["agent_id"],
        "agent_type": row["agent_type"],
        "status": row["status"] or "running",
        "summary": clean(row["progress_summary"] or "", SHORT),
        "skills_to_restore": (row["skills_to_restore"] or [])[-20:],
        "tools_used": (row["tools_used"] or [])[:20],
    }


def message(row: Row) -> Row:
    return {
        "id": row["id"],
        "from_agent": row["from_agent"],
        "to_agent": row["to_agent"],
        "topic": row["topic"],
        "content": clean(_words(row["content"]), WORDS),
        "priority": row["priority"],
        "created_at": row_times.written(row["created_ms"]),
    }


def action(row: Row) -> Row:
    return {
        "tool_name": row["tool_name"],
        "tool_type": row["tool_type"],
        "agent_id": row["agent_id"],
        "exit_code": row["exit_code"],
        "duration_ms": row["duration_ms"],
        "file_paths": [clean(str(path), SHORT) for path in (row["file_paths"] or [])[:3]],
        "detail": clean(row["input"] or "", SHORT),
        "created_at": row_times.written(row["created_ms"]),
    }


def blocking(row: Row) -> Row:
    told = {name: row[name] for name in ("blocked_by", "blocked_agent")}
    return {**told, "reason": clean(row["reason"] or "", SHORT)}


def _words(content: Any) -> str:
    if isinstance(content, dict) and isinstance(content.get("message"), str):
        return str(content["message"])
    return json.dumps(content, ensure_ascii=False)
