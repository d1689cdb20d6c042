"""Transcript lines and payloads for tests: name what matters, default the rest."""

import json
import os
from pathlib import Path
from typing import Any

from holdfast.settings import load as settings_load
from holdfast.window.guard import Thresholds, Verdict, judge

VERSION = "2.1.325"
SONNET = "claude-sonnet-4-6"
EDGE = 167_000


def an_answer(
    used: int = 50_000,
    *,
    id: str = "",  # noqa: A002 - the field's own name
    output: int = 50,
    model: str = SONNET,
    calls: tuple[str, ...] = (),
    text: str = "ok",
    stop_reason: str | None = "tool_use",
    sidechain: bool = False,
    version: str = VERSION,
    at: str = "2026-01-01T00:00:00.000Z",
    **extra: Any,
) -> dict[str, Any]:
    """One answer that left `used` tokens in the window."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    blocks += [
        {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}
        for call in calls
    ]
    return {
        "parentUuid": None,
        "isSidechain": sidechain,
        "message": {
            "id": id or f"msg_{used}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": stop_reason,
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": used - 30 - output,
                "output_tokens": output,
            },
        },
        "type": "assistant",
        "uuid": f"u-{used}-{id}",
        "timestamp": at,
        "cwd": "/p",
        "sessionId": "s1",
        "version": version,
        **extra,
    }


def a_result(call: str = "t1", text: str = "done", *, sidechain: bool = False) -> dict[str, Any]:
    return {
        "isSidechain": sidechain,
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": call, "content": text}],
        },
        "toolUseResult": {"stdout": text, "stderr": ""},
        "uuid": f"r-{call}",
        "timestamp": "2026-01-01T00:00:01.000Z",
    }


def a_prompt(text: str = "please go on") -> dict[str, Any]:
    return {
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": text},
        "promptSource": "sdk",
        "uuid": f"p-{len(text)}",
        "timestamp": "2026-01-01T00:00:00.500Z",
        "cwd": "/p",
    }


def a_boundary(
    pre: int = 167_500,
    post: int | None = 4_000,
    *,
    trigger: str = "auto",
    at: str = "2026-01-01T00:10:00.000Z",
    version: str = VERSION,
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"trigger": trigger, "preTokens": pre}
    if post is not None:
        metadata["postTokens"] = post
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "compactMetadata": metadata,
        "uuid": f"b-{pre}",
        "timestamp": at,
        "version": version,
    }


def a_microcompaction(
    saved: int = 20_000,
    pre: int = 60_000,
    *,
    cleared: tuple[str, ...] = ("t1",),
    uuid: str = "",
    version: str = "2.1.17",
) -> dict[str, Any]:
    """As clients 2.1.12 to 2.1.22 wrote it before the next request."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": "system",
        "subtype": "microcompact_boundary",
        "content": "Context microcompacted",
        "microcompactMetadata": {
            "trigger": "auto",
            "preTokens": pre,
            "tokensSaved": saved,
            "compactedToolIds": list(cleared),
            "clearedAttachmentUUIDs": [],
        },
        "uuid": uuid or f"m-{pre}-{saved}",
        "timestamp": "2026-01-01T00:10:00.000Z",
        "version": version,
    }


def a_summary(text: str = "This session is being continued.") -> dict[str, Any]:
    return {
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": text},
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
        "uuid": "sum-1",
        "timestamp": "2026-01-01T00:10:00.100Z",
        "version": VERSION,
    }


def a_transcript(path: Path, *lines: dict[str, Any] | str) -> Path:
    """Written as the client writes: one compact JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [
        line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) + "\n"
        for line in lines
    ]
    path.write_text("".join(texts), encoding="utf-8")
    os.utime(path, (0, 0))  # long ago: a hook waits a little for a file that is being written
    return path


def a_verdict(used_ratio: float, totals: tuple[int, ...] = ()) -> Verdict:
    return judge(
        totals,
        int(used_ratio * 1_000_000),
        1_000_000,
        Thresholds.of(settings_load.load(environ={})),
    )
