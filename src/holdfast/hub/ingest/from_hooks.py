"""Read what hooks wrote: the lines of a spool (finished tool calls, subagents that started and
stopped, the session's start and end) and the audit log. A spool line records that a call was made;
the transcript has its details.

Both files only grow. A file is identified by its first bytes, because rotation gives its name to
another file.
"""

from __future__ import annotations

import os
from typing import Any

from holdfast.hub import ids
from holdfast.hub.clean_text import clean_value, replace_unstorable
from holdfast.hub.ingest.from_turns import type_of
from holdfast.hub.ingest.records import (
    MOST_RECORDS,
    NAME_CHARS,
    TEXT_CHARS,
    RecordedAction,
    RecordedAuditLine,
    RecordedEvent,
    RecordedSubtask,
)
from holdfast.hub.ingest.windows import ReadPosition, Span, WindowReader
from holdfast.wire import places, spool
from holdfast.wire.scan import parse_object, text_of
from holdfast.wire.spool import SpoolLine

HEAD_BYTES = 64
CHUNK_BYTES = 1 << 20


def read_new_lines(
    path: str, offsets: dict[str, int], most: int
) -> tuple[dict[str, int], list[bytes]]:
    """Return the new offsets, by the first bytes of each file, and the complete lines after the
    known ones. A rotated file is read to its end first.

    The newer file is opened first: if it is rotated in between, it is still read under one name.
    A last line that is still being written is left for the next time.
    """
    newer, older = (_read_lines(one, offsets, most) for one in (path, f"{path}.1"))
    reached, lines = {}, list[bytes]()
    for file in (older, newer):
        if file is not None and file[0] not in reached:
            head, end, some = file
            reached[head] = offsets.get(head, 0) if lines else end
            lines = lines or some
    return reached, lines


def _read_lines(
    path: str, offsets: dict[str, int], most: int
) -> tuple[str, int, list[bytes]] | None:
    try:
        fd = places.open_regular(path)
    except (OSError, ValueError):
        return None
    lines = list[bytes]()
    with os.fdopen(fd, "rb") as file:
        first = file.readline(HEAD_BYTES)
        if len(first) < HEAD_BYTES and not first.endswith(b"\n"):
            return None
        head = first.rstrip(b"\n").decode("ascii", "replace")
        at = offsets.get(head, 0)
        at = at if at <= os.fstat(fd).st_size else 0
        file.seek(at)
        while len(lines) < most and (line := file.readline(CHUNK_BYTES)):
            if not line.endswith(b"\n") and len(line) < CHUNK_BYTES:
                break
            at += len(line)
            lines.append(line.rstrip(b"\n"))
    return head, at, lines


MOST_SPOOL_LINES = MOST_RECORDS // 2
ENDED = frozenset(("PostToolUse", "PostToolUseFailure"))
OPENED = frozenset(("SessionStart", "UserPromptSubmit"))


def read_spool(window: WindowReader, held: ReadPosition, span: Span) -> list[RecordedEvent]:
    """Read what happened since, and move `held` forward."""
    held.spool, lines = read_new_lines(f"{window.folder}/spool", held.spool, MOST_SPOOL_LINES)
    records: list[RecordedEvent] = []
    for data in lines:
        line = spool.parse(data.decode("ascii", "replace"))
        if line is None or not line.ms:
            continue
        span.add(line.ms)
        if line.event in ENDED and line.tool_use_id:
            records.append(_action(window, line))
        elif line.flags == "agent":
            records.append(_subtask(window, line))
        elif line.event == "SessionEnd" and not window.agent_id:
            span.end(line.ms)
        elif line.event in OPENED and not window.agent_id:
            span.open(line.ms)
    return records


def _action(window: WindowReader, line: SpoolLine) -> RecordedAction:
    return RecordedAction(
        id=ids.action_id(window.session_id, line.tool_use_id),
        **window.names,
        reported_by="hook",
        tool_name=line.tool or "unknown",
        tool_type=type_of(line.tool),
        exit_code=int(line.event == "PostToolUseFailure"),
        duration_ms=line.duration_ms or None,
        at_ms=line.ms,
    )


def _subtask(window: WindowReader, line: SpoolLine) -> RecordedSubtask:
    is_start = line.event == "SubagentStart"
    return RecordedSubtask(
        id=ids.subtask_id(window.session_id, line.tool_use_id),
        session_id=window.session_id,
        project_id=window.project_id,
        at_ms=line.ms,
        request_id=ids.request_id(window.session_id, line.answer_id),
        agent_id=line.tool_use_id,
        agent_type=line.tool,
        started_ms=line.ms if is_start else 0,
        ended_ms=0 if is_start else line.ms,
    )


LONGEST_LINE = 64 << 10  # older versions quoted sentences of a summary
MOST_AUDIT_LINES = 60  # a server takes bodies of 5 MB


def read_audit(offsets: dict[str, int]) -> tuple[dict[str, int], list[RecordedEvent]]:
    """Read what was added since."""
    reached, lines = read_new_lines(f"{places.home()}/audit.jsonl", offsets, MOST_AUDIT_LINES)
    records = [record for record in map(_parse_audit_line, lines) if record is not None]
    return reached or offsets, records


def _parse_audit_line(line: bytes) -> RecordedEvent | None:
    event = parse_object(line if len(line) <= LONGEST_LINE else b"")
    at_ms = event.get("at_ms")
    if type(at_ms) is not int or not 0 < at_ms < 1 << 53:
        return None
    return RecordedAuditLine(
        id=ids.audit_id(line.decode("utf-8", "replace")),
        kind=_name(event, "event") or "unknown",
        at_ms=at_ms,
        session_id=_name(event, "session_id"),
        agent_id=_name(event, "agent_id"),
        body=clean_value(event, TEXT_CHARS),
    )


def _name(event: dict[str, Any], key: str) -> str:
    return replace_unstorable(text_of(event, key))[:NAME_CHARS]
