"""The audit log's lines as deeds."""

from __future__ import annotations

import json
from typing import Any

from holdfast.hub import derived_ids
from holdfast.hub.ingest.readers import growing_file
from holdfast.hub.ingest.readers.clean_text import clean_value, whole
from holdfast.hub.ingest.records import NAME_CHARS, TEXT_CHARS, AuditLine, Deed
from holdfast.wire import places

LONGEST_LINE = 8 << 10
MOST_LINES = 500


def read_on(told: dict[str, int]) -> tuple[dict[str, int], list[Deed]]:
    found = growing_file.fresh(f"{places.home()}/audit.jsonl", told, MOST_LINES)
    if found is None:
        return told, []
    head, end, lines = found
    deeds = [deed for deed in map(_deed, lines) if deed is not None]
    return {head: end}, deeds


def _deed(line: bytes) -> Deed | None:
    event = _event(line)
    at_ms = event.get("at_ms")
    if type(at_ms) is not int or not 0 < at_ms < 1 << 53:
        return None
    return AuditLine(
        id=derived_ids.audit_id(line.decode("utf-8", "replace")),
        kind=_name(event, "event") or "unknown",
        at_ms=at_ms,
        session_id=_name(event, "session_id"),
        agent_id=_name(event, "agent_id"),
        body=clean_value(event, TEXT_CHARS),
    )


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line) if len(line) <= LONGEST_LINE else None
    except (ValueError, RecursionError):
        event = None
    return event if isinstance(event, dict) else {}


def _name(event: dict[str, Any], key: str) -> str:
    found = event.get(key)
    return whole(found)[:NAME_CHARS] if isinstance(found, str) else ""
