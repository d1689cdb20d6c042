"""`segments`: topics that wait for compression, compressed ones, and a better text for one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from holdfast.mcp import client_session
from holdfast.mcp.answers import ToolAnswer
from holdfast.mcp.tool_table import SegmentsArguments
from holdfast.segment import library
from holdfast.segment.formats import Compressed, Pending


def answer_segments(asked: SegmentsArguments) -> ToolAnswer:
    return OPS[asked.op](asked)


def _pending(asked: SegmentsArguments) -> ToolAnswer:
    found = library.list_pending(client_session.session_id(), client_session.project())
    return ToolAnswer(f"{len(found)} wait", {}, "segments", [_waiting(one) for one in found])


def _compressed_answer(asked: SegmentsArguments) -> ToolAnswer:
    found = [("warm", one) for one in library.warm(client_session.project())]
    if asked.cold:
        found += [("cold", one) for one in library.cold(client_session.project())]
    rows = [_row(one, tier) for tier, one in reversed(found)]
    tokens = {
        "original_tokens": sum(one.original_tokens for _, one in found),
        "compressed_tokens": sum(one.compressed_tokens for _, one in found),
    }
    return ToolAnswer(f"{len(rows)} compressed", tokens, "segments", rows)


def _save(asked: SegmentsArguments) -> ToolAnswer:
    now_ms = int(time.time() * 1000)
    one = library.save(asked.id, asked.text, list(asked.decisions), list(asked.files), now_ms)
    return ToolAnswer(f"saved {one.segment_id}", _row(one, library.tier(one.segment_id)))


OPS: dict[str, Callable[[SegmentsArguments], ToolAnswer]] = {
    "pending": _pending,
    "compressed": _compressed_answer,
    "save": _save,
}


def _waiting(one: Pending) -> dict[str, Any]:
    about = {"id": one.segment_id, "topic": one.topic, "by": one.written_by}
    return {**about, "turns": [one.start_turn, one.end_turn]}


def _row(one: Compressed, tier: str) -> dict[str, Any]:
    return {
        "id": one.segment_id,
        "topic": one.topic,
        "tier": tier,
        "session": one.session_id[:8] or None,
        "turns": [one.start_turn, one.end_turn],
        "original_tokens": one.original_tokens,
        "compressed_tokens": one.compressed_tokens,
        "by": one.metadata.written_by,
        "relevance": one.relevance_score,
    }
