"""A scripted answer in the Messages API's own form: one JSON message, or server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from holdfast.setup.trial.script import Answer, Refusal

Event = dict[str, Any]


def as_message(answer: Answer, *, number: int, model: str) -> dict[str, Any]:
    """The whole answer, as a request without `stream` gets it."""
    return {
        "id": f"msg_scripted{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(answer, number),
        "stop_reason": answer.stops_for,
        "stop_sequence": None,
        "usage": asdict(answer.usage),
    }


def as_events(answer: Answer, *, number: int, model: str) -> bytes:
    """The same answer as the event stream the client normally asks for."""
    message = as_message(answer, number=number, model=model)
    return b"".join(_encode(event) for event in _events(message))


def as_error(refusal: Refusal) -> dict[str, Any]:
    """An error in the API's own form."""
    return {
        "type": "error",
        "error": {"type": refusal.error_type, "message": refusal.message},
    }


def _blocks(answer: Answer, number: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for place, tool in enumerate(answer.tools):
        name = f"toolu_scripted{number:06d}x{place}"
        blocks.append(
            {"type": "tool_use", "id": name, "name": tool.name, "input": dict(tool.arguments)}
        )
    return blocks


def _events(message: dict[str, Any]) -> Iterator[Event]:
    final_usage = message["usage"]
    opening = {**message, "content": [], "stop_reason": None}
    opening["usage"] = {**final_usage, "output_tokens": 1}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": final_usage}
    yield {"type": "message_stop"}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[Event]:
    if block["type"] == "text":
        empty: Event = {"type": "text", "text": ""}
        delta: Event = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _encode(event: Event) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
