"""Tool calls: remembered when they start, recorded when they have ended.

This module finds a tool's type, a call's main argument and the files it named. It also reads task
lists, with each of the client's task tools: every item is a task of the request it came in; and
subagents: the call that starts one, its result, and the notification that a background one ended.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from holdfast.hub import ids
from holdfast.hub.clean_text import clean, replace_unstorable
from holdfast.hub.ingest.readers.window import OpenCall, ReadPosition, WindowReader
from holdfast.hub.ingest.records import (
    INPUT_CHARS,
    NAME_CHARS,
    TEXT_CHARS,
    RecordedAction,
    RecordedEvent,
    RecordedSubtask,
    RecordedTask,
)
from holdfast.record.agents import LAUNCHED
from holdfast.transcript.blocks import ToolResult, ToolUse, decoded
from holdfast.transcript.entries import Result
from holdfast.wire.scan import text_of

ToolType = Literal["builtin", "agent", "skill", "command", "mcp"]
AGENTS = frozenset(("Agent", "Task"))
_FILE_KEYS = ("file_path", "notebook_path", "path")
_MAIN_ARGUMENT = {
    "Bash": "command",
    "Skill": "skill",
    "SlashCommand": "command",
    "WebSearch": "query",
}
VALUE_CHARS = 400


def type_of(tool: str) -> ToolType:
    if tool.startswith("mcp__"):
        return "mcp"
    if tool in AGENTS:
        return "agent"
    return {"Skill": "skill", "SlashCommand": "command"}.get(tool, "builtin")  # type: ignore[return-value]


def input_of(tool: str, given: dict[str, Any]) -> str:
    """Return the call's input in short: its main argument, or all of them."""
    main = given.get(_MAIN_ARGUMENT.get(tool, ""))
    if isinstance(main, str):
        return clean(main, INPUT_CHARS)
    short = {key[:80]: _short(value) for key, value in list(given.items())[:20]}
    try:
        return clean(json.dumps(short, ensure_ascii=False), INPUT_CHARS)
    except (ValueError, RecursionError):
        return ""


def files_of(given: dict[str, Any]) -> list[str]:
    found = [given.get(key) for key in _FILE_KEYS]
    return [clean(path, TEXT_CHARS) for path in found if isinstance(path, str) and path]


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:VALUE_CHARS]
    if isinstance(value, int | float | bool) or value is None:
        return value
    return f"({type(value).__name__} of {len(value)})" if isinstance(value, list | dict) else ""


TOOLS = frozenset(("TaskCreate", "TaskUpdate", "TodoWrite"))
MOST_ITEMS = 100
ITEM_CHARS = TEXT_CHARS // 4
_STATUS = {"pending": "pending", "in_progress": "running", "completed": "completed"}
_UPDATES = {**_STATUS, "deleted": "deleted"}


def task_details(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return what the call asks for; it takes effect once the client confirms it."""
    if tool == "TodoWrite":
        items = given.get("todos")
        items = items if isinstance(items, list) else []
        return {"todos": [pair for pair in map(_todo, items[:MOST_ITEMS]) if pair[0]]}
    if tool == "TaskCreate":
        return {"name": _words(given, "subject") or _words(given, "description")}
    status = given.get("status")
    return {
        "name": _words(given, "subject"),
        "key": str(given.get("taskId"))[:40],
        "status": _UPDATES.get(status, "") if isinstance(status, str) else "",
    }


def read_task_result(
    window: WindowReader, reached: ReadPosition, call: OpenCall, answer: str, at_ms: int
) -> list[RecordedEvent]:
    if not reached.request:
        return []
    if call.tool == "TodoWrite":
        return _replace_list(window, reached, call.details.get("todos", []), at_ms)
    if call.tool == "TaskCreate":
        return _create_task(window, reached, call, answer, at_ms)
    return _update_task(window, reached, call, at_ms)


def _create_task(
    window: WindowReader, reached: ReadPosition, call: OpenCall, answer: str, at_ms: int
) -> list[RecordedEvent]:
    """The task's number is in the answer: `Task #3 created successfully: …`."""
    reached.waves += 1
    number = answer.partition("#")[2][:6].partition(" ")[0].rstrip(".:")
    key = f"number {number}" if number.isdecimal() else f"{reached.request} {reached.waves}"
    return [
        RecordedTask(
            id=ids.task_id(window.session_id, key),
            at_ms=at_ms,
            status="pending",
            request_id=reached.request,
            name=call.details.get("name") or f"Task {number or reached.waves}",
            wave_number=reached.waves,
        )
    ]


def _update_task(
    window: WindowReader, reached: ReadPosition, call: OpenCall, at_ms: int
) -> list[RecordedEvent]:
    details = call.details
    task_id = ids.task_id(window.session_id, f"number {details.get('key')}")
    status = details.get("status", "")
    _follow(reached, task_id, status)
    return [RecordedTask(id=task_id, at_ms=at_ms, status=status, name=details.get("name", ""))]


def _replace_list(
    window: WindowReader, reached: ReadPosition, items: list[Any], at_ms: int
) -> list[RecordedEvent]:
    """Read a TodoWrite, which repeats the whole list; an item is identified by its words."""
    records: list[RecordedEvent] = []
    for number, (words, status) in enumerate(items, 1):
        task_id = ids.task_id(window.session_id, f"todo {words}")
        _follow(reached, task_id, status)
        records.append(
            RecordedTask(
                id=task_id,
                at_ms=at_ms,
                status=status,
                request_id=reached.request,
                name=words,
                wave_number=number,
            )
        )
    return records


def _follow(reached: ReadPosition, task_id: str, status: str) -> None:
    """Subagents belong to the task that is under way."""
    if status == "running":
        reached.task = task_id
    elif status and reached.task == task_id:
        reached.task = ""


def _todo(item: Any) -> tuple[str, str]:
    if not isinstance(item, dict):
        return "", ""
    status = item.get("status")
    known = _STATUS.get(status, "pending") if isinstance(status, str) else "pending"
    return _words(item, "content"), known


def _words(given: dict[str, Any], key: str) -> str:
    found = given.get(key)
    if not isinstance(found, str):
        return ""
    return clean(" ".join(found[: 4 * ITEM_CHARS].split()), ITEM_CHARS)


EXIT = "Exit code "


def start_call(block: ToolUse, at_ms: int) -> OpenCall:
    given = block.input
    return OpenCall(
        tool=replace_unstorable(block.name)[:NAME_CHARS] or "unknown",
        at_ms=at_ms,
        input=input_of(block.name, given),
        file_paths=files_of(given),
        details=_details(block.name, given),
    )


def _details(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    if tool in AGENTS:
        return agent_details(given)
    if tool in TOOLS:
        return task_details(tool, given)
    skill = given.get("skill") or given.get("command") if tool == "Skill" else None
    return {"skill": replace_unstorable(skill)[:NAME_CHARS]} if isinstance(skill, str) else {}


def end_call(
    window: WindowReader,
    reached: ReadPosition,
    call: OpenCall,
    entry: Result,
    block: ToolResult,
    at_ms: int,
) -> list[RecordedEvent]:
    """Return the action and its changes of the tree."""
    records: list[RecordedEvent] = []
    took: int | None = None
    if call.tool in AGENTS:
        subtask, took = read_agent_result(window, reached, call, entry, block, at_ms)
        records += [subtask] if subtask else []
    elif call.tool in TOOLS and not block.is_error and not window.agent_id:
        records += read_task_result(window, reached, call, block.text[:200], at_ms)
    records.append(
        RecordedAction(
            id=ids.action_id(window.session_id, block.tool_use_id),
            session_id=window.session_id,
            project_id=window.project_id,
            agent_id=window.agent_id,
            reported_by="transcript",
            tool_name=call.tool,
            tool_type=type_of(call.tool),
            input=call.input,
            file_paths=call.file_paths,
            exit_code=_exit_code(block) if block.is_error else 0,
            duration_ms=took,
            at_ms=call.at_ms,
        )
    )
    return records


def skill_of(call: OpenCall, block: ToolResult) -> list[str]:
    skill = call.details.get("skill")
    return [skill] if skill and not block.is_error else []


def _exit_code(block: ToolResult) -> int:
    """Return the exit code if the client reports it, else 1."""
    code = block.text[:40].removeprefix("Error: ").partition(EXIT)[2].partition("\n")[0].strip()
    return int(code) if code.isdecimal() and len(code) < 6 and int(code) else 1


_OVER = {"completed": "completed", "failed": "failed", "killed": "failed", "stopped": "failed"}
HEAD_CHARS = 4_000


def agent_details(given: dict[str, Any]) -> dict[str, Any]:
    """Return what to remember of the call until its result names the agent."""
    description = text_of(given, "description") or text_of(given, "prompt")[:TEXT_CHARS]
    return {
        "description": clean(description.strip().partition("\n")[0], TEXT_CHARS // 2),
        "agent_type": replace_unstorable(text_of(given, "subagent_type"))[:NAME_CHARS],
    }


def read_agent_result(
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
    agent_id = text_of(copy, "agentId") or _agent_in(text)
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
        or replace_unstorable(text_of(copy, "agentType"))[:NAME_CHARS],
        parent_agent_id=window.agent_id,
        description=call.details.get("description", ""),
        described=2 if call.details.get("description") else 0,
        started_ms=call.at_ms,
        ended_ms=0 if launched else at_ms,
        outcome="failed" if block.is_error else "completed",
    )
    return subtask, took if type(took) is int and 0 <= took < 1 << 53 else None


def read_agent_end(window: WindowReader, text: str, at_ms: int) -> RecordedSubtask | None:
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
