"""`segments`: what waits to be compressed, what was, and a model's better words for one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from holdfast.mcp import client_session
from holdfast.mcp.reply import Answer
from holdfast.mcp.schemas import Segments
from holdfast.segment import library
from holdfast.segment.formats import Compressed, Pending


def answer(asked: Segments) -> Answer:
    return OPS[asked.op](asked)


def _pending(asked: Segments) -> Answer:
    found = library.pending(client_session.session_id(), client_session.project())
    return Answer(f"{len(found)} wait", {}, "segments", [_waiting(one) for one in found])


def _compressed(asked: Segments) -> Answer:
    found = [("warm", one) for one in library.warm(client_session.project())]
    if asked.cold:
        found += [("cold", one) for one in library.cold(client_session.project())]
    rows = [_row(one, tier) for tier, one in reversed(found)]
    tokens = {
        "original_tokens": sum(one.original_tokens for _, one in found),
        "compressed_tokens": sum(one.compressed_tokens for _, one in found),
    }
    return Answer(f"{len(rows)} compressed", tokens, "segments", rows)


def _save(asked: Segments) -> Answer:
    now_ms = int(time.time() * 1000)
    one = library.save(asked.id, asked.text, list(asked.decisions), list(asked.files), now_ms)
    return Answer(f"saved {one.segment_id}", _row(one, library.tier(one.segment_id)))


OPS: dict[str, Callable[[Segments], Answer]] = {
    "pending": _pending,
    "compressed": _compressed,
    "save": _save,
}


def _waiting(one: Pending) -> dict[str, Any]:
    told = {"id": one.segment_id, "topic": one.topic}
    return {**told, "turns": [one.start_turn, one.end_turn]}


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
