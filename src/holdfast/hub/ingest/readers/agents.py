"""Subagents in the transcript: the call that starts one, its result, and the notification that a
background one has ended."""

from __future__ import annotations

from typing import Any

from holdfast.hub import ids
from holdfast.hub.clean_text import clean, replace_unstorable
from holdfast.hub.ingest.readers.window import OpenCall, ReadPosition, WindowReader
from holdfast.hub.ingest.records import NAME_CHARS, TEXT_CHARS, RecordedSubtask
from holdfast.record.agents import LAUNCHED
from holdfast.transcript import Result, ToolResult, decoded

_OVER = {"completed": "completed", "failed": "failed", "killed": "failed", "stopped": "failed"}
HEAD_CHARS = 4_000


def start_details(given: dict[str, Any]) -> dict[str, Any]:
    """Return what to remember of the call until its result names the agent."""
    asked = _text(given, "description") or _text(given, "prompt")[:TEXT_CHARS]
    return {
        "description": clean(asked.strip().partition("\n")[0], TEXT_CHARS // 2),
        "agent_type": replace_unstorable(_text(given, "subagent_type"))[:NAME_CHARS],
    }


def read_result(
    window: WindowReader,
    reached: ReadPosition,
    call: OpenCall,
    entry: Result,
    block: ToolResult,
    at_ms: int,
) -> tuple[RecordedSubtask | None, int | None]:
    """Return the subtask, finished or launched, and its duration if known.

    A refused call has started no agent.
    """
    copy = decoded(entry.tool_use_result)
    copy = copy if isinstance(copy, dict) else {}
    text = block.text[:HEAD_CHARS]
    launched = text.startswith(LAUNCHED) or copy.get("isAsync") is True
    agent_id = _text(copy, "agentId") or _agent_in(text)
    agent_id = replace_unstorable(agent_id)[:NAME_CHARS]
    if block.is_error and not agent_id:
        return None, None
    task = reached.task or (ids.default_task_id(reached.request) if reached.request else "")
    within = {} if window.agent_id else {"request_id": reached.request, "task_id": task}
    took = copy.get("totalDurationMs")
    subtask = RecordedSubtask(
        id=ids.subtask_id(window.session_id, agent_id)
        if agent_id
        else ids.subtask_of_call(window.session_id, block.tool_use_id),
        session_id=window.session_id,
        project_id=window.project_id,
        at_ms=call.at_ms,
        **within,
        agent_id=agent_id,
        agent_type=call.details.get("agent_type", "")
        or replace_unstorable(_text(copy, "agentType"))[:NAME_CHARS],
        parent_agent_id=window.agent_id,
        description=call.details.get("description", ""),
        described=2 if call.details.get("description") else 0,
        started_ms=call.at_ms,
        ended_ms=0 if launched else at_ms,
        outcome="failed" if block.is_error else "completed",
    )
    return subtask, took if type(took) is int and 0 <= took < 1 << 53 else None


def read_notification(window: WindowReader, text: str, at_ms: int) -> RecordedSubtask | None:
    """Read a `<task-notification>`: a background agent ended."""
    if not text.startswith("<task-notification"):
        return None
    head = text[:HEAD_CHARS]
    agent_id = replace_unstorable(head.partition("<task-id>")[2].partition("<")[0].strip())[
        :NAME_CHARS
    ]
    outcome = _OVER.get(head.partition("<status>")[2].partition("<")[0].strip())
    if not agent_id or outcome is None:
        return None
    return RecordedSubtask(
        id=ids.subtask_id(window.session_id, agent_id),
        session_id=window.session_id,
        project_id=window.project_id,
        at_ms=at_ms,
        agent_id=agent_id,
        ended_ms=at_ms,
        outcome="failed" if outcome == "failed" else "completed",
    )


def _agent_in(text: str) -> str:
    return text.partition("agentId: ")[2][:80].split(" ")[0].split("\n")[0]


def _text(given: dict[str, Any], key: str) -> str:
    found = given.get(key)
    return found if isinstance(found, str) else ""
