"""Tool calls: remembered when they are made, told when they have ended."""

from __future__ import annotations

from typing import Any

from holdfast.hub import derived_ids
from holdfast.hub.ingest.readers import agents, task_lists
from holdfast.hub.ingest.readers.clean_text import whole
from holdfast.hub.ingest.readers.read_position import OpenCall, ReadPosition
from holdfast.hub.ingest.readers.tools import AGENTS, files_of, input_of, type_of
from holdfast.hub.ingest.readers.window import WindowReader
from holdfast.hub.ingest.records import NAME_CHARS, ActionDone, Deed
from holdfast.transcript import Result, ToolResult, ToolUse

EXIT = "Exit code "


def made(block: ToolUse, at_ms: int) -> OpenCall:
    given = block.input
    return OpenCall(
        tool=whole(block.name)[:NAME_CHARS] or "unknown",
        at_ms=at_ms,
        input=input_of(block.name, given),
        file_paths=files_of(given),
        told=_told(block.name, given),
    )


def _told(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    if tool in AGENTS:
        return agents.started(given)
    if tool in task_lists.TOOLS:
        return task_lists.remembered(tool, given)
    skill = given.get("skill") or given.get("command") if tool == "Skill" else None
    return {"skill": whole(skill)[:NAME_CHARS]} if isinstance(skill, str) else {}


def ended(
    window: WindowReader,
    reached: ReadPosition,
    call: OpenCall,
    entry: Result,
    block: ToolResult,
    at_ms: int,
) -> list[Deed]:
    """The action, and what it did to the tree."""
    deeds: list[Deed] = []
    took: int | None = None
    if call.tool in AGENTS:
        subtask, took = agents.answered(window, reached, call, entry, block, at_ms)
        deeds += [subtask] if subtask else []
    elif call.tool in task_lists.TOOLS and not block.is_error and not window.agent_id:
        deeds += task_lists.changed(window, reached, call, block.text[:200], at_ms)
    deeds.append(
        ActionDone(
            id=derived_ids.action_id(window.session_id, block.tool_use_id),
            session_id=window.session_id,
            project_id=window.project_id,
            agent_id=window.agent_id,
            told_by="transcript",
            tool_name=call.tool,
            tool_type=type_of(call.tool),
            input=call.input,
            file_paths=call.file_paths,
            exit_code=_exit_code(block) if block.is_error else 0,
            duration_ms=took,
            at_ms=call.at_ms,
        )
    )
    return deeds


def skill_of(call: OpenCall, block: ToolResult) -> list[str]:
    skill = call.told.get("skill")
    return [skill] if skill and not block.is_error else []


def _exit_code(block: ToolResult) -> int:
    """The real one where the client says it, else 1."""
    told = block.text[:40].removeprefix("Error: ").partition(EXIT)[2].partition("\n")[0].strip()
    return int(told) if told.isdecimal() and len(told) < 6 and int(told) else 1
