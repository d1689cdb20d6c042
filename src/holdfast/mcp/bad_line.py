"""A line that is no message of the protocol, and the answer its sender gets: who asked waits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import mcp_types as types
from pydantic import ValidationError

NOT_JSON = "json_invalid"  # pydantic's word; a lone surrogate is one such slip


def refusals(line: str) -> list[types.JSONRPCError]:
    """Nothing for a message, and for an empty line; else one answer for each question in it, or
    one to nobody where none can be made out."""
    if not line.strip():
        return []
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as slip:
        broken = slip.errors(include_url=False, include_input=False)[0]["type"] == NOT_JSON
        return [_refused(asked, broken) for asked in _asked(_decoded(line))]
    if isinstance(message, types.JSONRPCNotification) and "id" in (_decoded(line) or {}):
        return [_refused(None, broken=False)]  # a question with an id that is none
    return []


def _asked(value: Any) -> Iterator[str | int | None]:
    """The ids of what was asked. What looks like an answer is not answered: its id is ours."""
    together = value if isinstance(value, list) and value else [value]
    questions = [one for one in together if not _is_answer(one)]
    known = [one["id"] for one in questions if isinstance(one, dict) and _is_id(one.get("id"))]
    yield from known or [None][: len(questions)]


def _is_answer(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "method" not in value
        and not {"result", "error"}.isdisjoint(value)
    )


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return value.isprintable()  # no lone surrogate is
    return isinstance(value, int) and not isinstance(value, bool)


def _decoded(line: str) -> Any:
    """By a more patient reader than the protocol's: it may still find the id."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _refused(asked: str | int | None, broken: bool) -> types.JSONRPCError:
    if broken:
        error = types.ErrorData(code=types.PARSE_ERROR, message="Parse error: this is not JSON")
    else:
        words = "Invalid Request: this is not a message of JSON-RPC 2.0"
        error = types.ErrorData(code=types.INVALID_REQUEST, message=words)
    return types.JSONRPCError(jsonrpc="2.0", id=asked, error=error)
