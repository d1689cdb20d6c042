"""Lines as Claude Code writes them: name what matters, default the rest."""

import json
from pathlib import Path
from typing import Any

from holdfast.transcript.entries import Entry
from holdfast.transcript.parse import LineTally
from holdfast.transcript.reader import read

Line = dict[str, Any]

ENVELOPE: Line = {
    "parentUuid": None,
    "isSidechain": False,
    "uuid": "u-1",
    "timestamp": "2026-11-15T06:25:59.855Z",
    "cwd": "/work/project",
    "sessionId": "s-1",
    "version": "2.1.325",
}
MARKS = {"promptSource", "origin", "isMeta", "isCompactSummary", "version"}
USAGE: Line = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 200,
    "cache_read_input_tokens": 3000,
    "output_tokens": 50,
    "service_tier": "standard",
}


def text(words: str = "hello") -> Line:
    return {"type": "text", "text": words}


def tool_use(name: str = "Bash", use_id: str = "toolu_1", **given: Any) -> Line:
    return {"type": "tool_use", "id": use_id, "name": name, "input": given}


def tool_result(content: Any = "done", use_id: str = "toolu_1", **more: Any) -> Line:
    return {"tool_use_id": use_id, "type": "tool_result", "content": content, **more}


def answer(
    message_id: str = "msg_1", *blocks: Line, message: Line | None = None, **more: Any
) -> Line:
    """One line of an answer; `message` changes the message, `more` the line around it."""
    inner = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": list(blocks) or [text()],
        "stop_reason": "end_turn",
        "usage": USAGE,
        **(message or {}),
    }
    return {**ENVELOPE, "message": inner, "type": "assistant", **more}


def prompt(content: Any = "please", **more: Any) -> Line:
    """A prompt as headless clients write it, if no other mark is given."""
    said = {} if more.keys() & MARKS else {"promptSource": "sdk"}
    message = {"role": "user", "content": content}
    return {**ENVELOPE, "type": "user", "message": message, **said, **more}


def result(*blocks: Line, copy: Any = None, **more: Any) -> Line:
    """A tool's result, with the client's own `copy` of it and what is written after that."""
    line = prompt(list(blocks) or [tool_result()])
    return {**line, "toolUseResult": copy, "sourceToolAssistantUUID": "u-0", **more}


def summary(words: str = "This session is being continued", **more: Any) -> Line:
    return prompt(words, isCompactSummary=True, isVisibleInTranscriptOnly=True, **more)


def boundary(**metadata: Any) -> Line:
    known = {"trigger": "auto", "preTokens": 170_553, "postTokens": 3_729, **metadata}
    return {
        **ENVELOPE,
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "compactMetadata": known,
    }


def microcompact() -> Line:
    known = {"trigger": "auto", "preTokens": 60_000, "tokensSaved": 20_000}
    return {
        **ENVELOPE,
        "type": "system",
        "subtype": "microcompact_boundary",
        "microcompactMetadata": known,
    }


def queueing(operation: str = "enqueue", words: str | None = None) -> Line:
    content = {} if words is None else {"content": words}
    return {"type": "queue-operation", "operation": operation, "sessionId": "s-1", **content}


def attachment(kind: str = "hook_additional_context", words: str = "mind the gap") -> Line:
    return {
        **ENVELOPE,
        "attachment": {"type": kind, "content": [words]},
        "type": "attachment",
        "rendered": [{"content": words}],
    }


def encoded(line: Line | bytes) -> bytes:
    return line if isinstance(line, bytes) else json.dumps(line, separators=(",", ":")).encode()


def jsonl(*lines: Line | bytes) -> bytes:
    return b"".join(encoded(line) + b"\n" for line in lines)


def written(path: Path, *lines: Line | bytes) -> Path:
    """A transcript with these lines, in this folder."""
    file = path / "s-1.jsonl"
    file.write_bytes(jsonl(*lines))
    return file


def entries_of(folder: Path, *lines: Line | bytes, tally: LineTally | None = None) -> list[Entry]:
    return list(read(written(folder, *lines), tally=tally))
