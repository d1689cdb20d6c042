"""The audit log's lines as rows to write."""

from __future__ import annotations

import json
from typing import Any

from holdfast.hub import derived_ids
from holdfast.hub.ingest.readers import growing_file
from holdfast.hub.ingest.readers.clean_text import clean_value, whole
from holdfast.hub.ingest.records import NAME_CHARS, TEXT_CHARS, AuditLine, Deed
from holdfast.wire import places

LONGEST_LINE = 64 << 10  # eight sentences of each kind that a summary got wrong, in any script
MOST_LINES = 60  # a server takes bodies of 5 MB


def read_on(told: dict[str, int]) -> tuple[dict[str, int], list[Deed]]:
    """What was added since; the file that was moved aside is read to its end first. The newer one
    is opened first: should it be moved now, it is read under one name rather than never."""
    newer = growing_file.fresh(f"{places.home()}/audit.jsonl", told, MOST_LINES)
    older = growing_file.fresh(f"{places.home()}/audit.jsonl.1", told, MOST_LINES)
    if older and newer and older[0] == newer[0]:
        older = None
    if older and older[2]:
        newer = None
    reached = {head: end for head, end, _ in filter(None, (older, newer))}
    lines = [line for _, _, some in filter(None, (older, newer)) for line in some]
    return reached or told, [deed for deed in map(_deed, lines) if deed is not None]


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
