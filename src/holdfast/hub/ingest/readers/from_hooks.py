"""Read what hooks wrote: the lines of a spool (finished tool calls, subagents that started and
stopped, the session's start and end) and the audit log. A spool line records that a call was made;
the transcript has its details.

Both files only grow. A file is identified by its first bytes, because rotation gives its name to
another file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.hub import ids
from holdfast.hub.clean_text import clean_value, replace_unstorable
from holdfast.hub.ingest.readers.calls import type_of
from holdfast.hub.ingest.readers.window import ReadPosition, Span, WindowReader
from holdfast.hub.ingest.records import (
    MOST_RECORDS,
    NAME_CHARS,
    TEXT_CHARS,
    RecordedAction,
    RecordedAuditLine,
    RecordedEvent,
    RecordedSubtask,
)
from holdfast.wire import places, spool
from holdfast.wire.spool import SpoolLine

HEAD_BYTES = 64
CHUNK_BYTES = 1 << 20


def fresh_lines(
    path: str, offsets: dict[str, int], most_lines: int
) -> tuple[str, int, list[bytes]] | None:
    """Return a file's head, the offset reached and the complete lines after its known offset.

    A last line that is still being written is left for the next time. None: there is no file.
    """
    with _open(path) as fd:
        if fd < 0:
            return None
        head = _head(fd)
        if not head:
            return None
        size = os.fstat(fd).st_size
        start = offsets.get(head, 0)
        start = start if start <= size else 0
        lines, end = _lines(fd, start, most_lines)
        return head, end, lines


@contextmanager
def _open(path: str) -> Iterator[int]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        yield -1
        return
    try:
        yield fd if places.is_regular(fd) else -1
    finally:
        os.close(fd)


def _head(fd: int) -> str:
    begins = os.pread(fd, HEAD_BYTES, 0)
    if len(begins) < HEAD_BYTES and b"\n" not in begins:
        return ""
    return begins.partition(b"\n")[0].decode("ascii", "replace")


def _lines(fd: int, start: int, most: int) -> tuple[list[bytes], int]:
    found: list[bytes] = []
    held, end = b"", start
    while len(found) < most and (data := os.pread(fd, CHUNK_BYTES, end + len(held))):
        *whole, held = (held + data).split(b"\n")
        for line in whole[: most - len(found)]:
            end += len(line) + 1
            found.append(line)
        if len(held) > CHUNK_BYTES:  # Holdfast writes no line that long: skip it
            end, held = end + len(held), b""
    return found, end


MOST_SPOOL_LINES = MOST_RECORDS // 2
MOST_DISORDER_MS = 60_000  # no hook may take longer
ENDED = frozenset(("PostToolUse", "PostToolUseFailure"))
OPENED = frozenset(("SessionStart", "UserPromptSubmit"))


def read_spool(window: WindowReader, held: ReadPosition, span: Span) -> list[RecordedEvent]:
    """Read what happened since, and move `held` forward.

    The spool is opened before `spool.1`: if it is rotated in between, it is read twice rather than
    never.
    """
    offsets, reached = held.spool, {}
    newer = fresh_lines(f"{window.folder}/spool", offsets, MOST_SPOOL_LINES)
    older = fresh_lines(f"{window.folder}/spool.1", offsets, MOST_SPOOL_LINES)
    if older and newer and older[0] == newer[0]:
        older = None
    records: list[RecordedEvent] = []
    for head, end, lines in filter(None, (older, newer)):
        if len(records) >= MOST_SPOOL_LINES:  # the older file first
            reached[head] = offsets.get(head, 0)
            continue
        reached[head] = end
        records += _parse_spool_lines(window, lines, held, span)
    held.spool = reached
    return records


def _parse_spool_lines(
    window: WindowReader, lines: list[bytes], held: ReadPosition, span: Span
) -> Iterator[RecordedEvent]:
    for data in lines:
        line = spool.parse(data.decode("ascii", "replace"))
        if line is None or not line.ms:
            continue
        span.add(line.ms)
        _note_reading(line, held)
        if line.event in ENDED and line.tool_use_id:
            yield _action(window, line)
        elif line.flags == "agent":
            yield _subtask(window, line)
        elif not window.agent_id:
            _note_session(line, span)


def _action(window: WindowReader, line: SpoolLine) -> RecordedAction:
    return RecordedAction(
        id=ids.action_id(window.session_id, line.tool_use_id),
        session_id=window.session_id,
        project_id=window.project_id,
        agent_id=window.agent_id,
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


def _note_reading(line: SpoolLine, held: ReadPosition) -> None:
    """Hooks that run at once append in any order, so the time decides. A line that is much older
    than the one before it was written after the clock was set back."""
    is_newest = line.ms >= held.newest_ms or held.newest_ms - line.ms > MOST_DISORDER_MS
    if line.tells_fill() and is_newest:
        held.newest_ms, held.newest_used = line.ms, line.used
        held.newest_estimated = line.flags.endswith(".estimated")


def _note_session(line: SpoolLine, span: Span) -> None:
    if line.event == "SessionEnd":
        span.end(line.ms)
    elif line.event in OPENED:
        span.open(line.ms)


LONGEST_LINE = 64 << 10  # older versions quoted sentences of a summary
MOST_AUDIT_LINES = 60  # a server takes bodies of 5 MB


def read_audit(offsets: dict[str, int]) -> tuple[dict[str, int], list[RecordedEvent]]:
    """Read what was added since; a rotated file is read to its end first.

    The newer file is opened first: if it is rotated now, it is still read under one name.
    """
    newer = fresh_lines(f"{places.home()}/audit.jsonl", offsets, MOST_AUDIT_LINES)
    older = fresh_lines(f"{places.home()}/audit.jsonl.1", offsets, MOST_AUDIT_LINES)
    if older and newer and older[0] == newer[0]:
        older = None
    if older and older[2]:
        newer = None
    reached = {head: end for head, end, _ in filter(None, (older, newer))}
    lines = [line for _, _, some in filter(None, (older, newer)) for line in some]
    records = [record for record in map(_parse_audit_line, lines) if record is not None]
    return reached or offsets, records


def _parse_audit_line(line: bytes) -> RecordedEvent | None:
    event = _event(line)
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


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line) if len(line) <= LONGEST_LINE else None
    except (ValueError, RecursionError):
        event = None
    return event if isinstance(event, dict) else {}


def _name(event: dict[str, Any], key: str) -> str:
    found = event.get(key)
    return replace_unstorable(found)[:NAME_CHARS] if isinstance(found, str) else ""
