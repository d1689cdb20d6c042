"""Sample payloads, one per hook event, shaped as Claude Code 2.1.325 sends them."""

from typing import Any

CALL = "toolu_sample"
_TOOL = {
    "tool_name": "Bash",
    "tool_input": {"command": "echo 1", "description": "say one"},
    "tool_use_id": CALL,
    "duration_ms": 36,
}
_AGENT = {"agent_id": "a1b2c3d4e5f60718", "agent_type": "general-purpose"}
_OWN: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup", "model": "claude-sonnet-4-6"},
    "UserPromptSubmit": {"prompt": "hello", "permission_mode": "acceptEdits"},
    "PostToolUse": {
        **_TOOL,
        "tool_response": {"stdout": "1", "stderr": "", "interrupted": False, "isImage": False},
    },
    "PostToolUseFailure": {**_TOOL, "error": "Exit code 1", "is_interrupt": False},
    "SubagentStart": _AGENT,
    "SubagentStop": {**_AGENT, "stop_hook_active": False, "last_assistant_message": "done"},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "done", "background_tasks": []},
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "PostCompact": {"trigger": "auto", "compact_summary": "<summary>\nWork went on.\n</summary>"},
    "SessionEnd": {"reason": "other"},
}
EVENTS = tuple(_OWN)


def make_payload(event: str, *, session_id: str, transcript: str, cwd: str) -> dict[str, Any]:
    """What Claude Code would write to a hook's stdin."""
    common = {
        "session_id": session_id,
        "transcript_path": transcript,
        "cwd": cwd,
        "prompt_id": "00000000-0000-4000-8000-000000000000",
        "hook_event_name": event,
    }
    return common | _OWN[event]


def _line(kind: str, number: int) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "version": "2.1.325",
    }


def answer_line(used_tokens: int) -> dict[str, Any]:
    """A transcript line of an answer with this token count and a tool call."""
    return {
        **_line("assistant", 1),
        "message": {
            "id": f"msg_{used_tokens}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-6",
            "content": [{"type": "tool_use", "id": CALL, "name": "Bash", "input": {}}],
            "stop_reason": "tool_use",
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": max(0, used_tokens - 60),
                "output_tokens": 50,
            },
        },
    }


def prompt_line(text: str) -> dict[str, Any]:
    """A transcript line of the user's own words."""
    return {
        **_line("user", 2),
        "promptSource": "typed",
        "message": {"role": "user", "content": text},
    }


def compacted_lines() -> list[dict[str, Any]]:
    """The transcript lines that a compaction adds: its boundary and a summary."""
    boundary = {
        **_line("system", 3),
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "auto", "preTokens": 167_500, "postTokens": 4_000},
    }
    summary = prompt_line("This session is being continued: work went on.")
    return [boundary, summary | {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}]
