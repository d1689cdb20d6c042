"""The spool's lines as deeds: tool calls that ended, subagents that came and went, the session's
beginning and end. A line tells that a call was made; the transcript tells what it was about."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.hub import derived_ids
from holdfast.hub.ingest.readers import growing_file
from holdfast.hub.ingest.readers.calls import type_of
from holdfast.hub.ingest.readers.read_position import ReadPosition
from holdfast.hub.ingest.readers.time_range import Span
from holdfast.hub.ingest.readers.window import WindowReader
from holdfast.hub.ingest.records import MOST_DEEDS, ActionDone, Deed, SubtaskTold
from holdfast.wire import spool
from holdfast.wire.spool import SpoolLine

MOST_LINES = MOST_DEEDS // 2
ENDED = frozenset(("PostToolUse", "PostToolUseFailure"))
OPENED = frozenset(("SessionStart", "UserPromptSubmit"))


def read_on(window: WindowReader, held: ReadPosition, span: Span) -> list[Deed]:
    """What happened since; `held` is moved on.

    The spool is opened before `spool.1`: should it be rotated in between, we read it twice under
    one name rather than never.
    """
    told, reached = held.spool, {}
    newer = growing_file.fresh(f"{window.folder}/spool", told, MOST_LINES)
    older = growing_file.fresh(f"{window.folder}/spool.1", told, MOST_LINES)
    if older and newer and older[0] == newer[0]:
        older = None
    deeds: list[Deed] = []
    for head, end, lines in filter(None, (older, newer)):
        if len(deeds) >= MOST_LINES:  # first things first
            reached[head] = told.get(head, 0)
            continue
        reached[head] = end
        deeds += _deeds(window, lines, held, span)
    held.spool = reached
    return deeds


def _deeds(
    window: WindowReader, lines: list[bytes], held: ReadPosition, span: Span
) -> Iterator[Deed]:
    for data in lines:
        line = spool.parse(data.decode("ascii", "replace"))
        if line is None or not line.ms:
            continue
        span.add(line.ms)
        _read(line, held)
        if line.event in ENDED and line.tool_use_id:
            yield _action(window, line)
        elif line.flags == "agent":
            yield _subtask(window, line)
        elif not window.agent_id:
            _note_session(line, span)


def _action(window: WindowReader, line: SpoolLine) -> ActionDone:
    return ActionDone(
        id=derived_ids.action_id(window.session_id, line.tool_use_id),
        session_id=window.session_id,
        project_id=window.project_id,
        agent_id=window.agent_id,
        told_by="hook",
        tool_name=line.tool or "unknown",
        tool_type=type_of(line.tool),
        exit_code=int(line.event == "PostToolUseFailure"),
        duration_ms=line.duration_ms or None,
        at_ms=line.ms,
    )


def _subtask(window: WindowReader, line: SpoolLine) -> SubtaskTold:
    came = line.event == "SubagentStart"
    return SubtaskTold(
        id=derived_ids.subtask_id(window.session_id, line.tool_use_id),
        session_id=window.session_id,
        project_id=window.project_id,
        at_ms=line.ms,
        request_id=derived_ids.request_id(window.session_id, line.answer_id),
        agent_id=line.tool_use_id,
        agent_type=line.tool,
        started_ms=line.ms if came else 0,
        ended_ms=0 if came else line.ms,
    )


def _read(line: SpoolLine, held: ReadPosition) -> None:
    if line.tells_fill() and line.ms >= held.newest_ms:
        held.newest_ms, held.newest_used = line.ms, line.used
        held.newest_estimated = line.flags.endswith(".estimated")


def _note_session(line: SpoolLine, span: Span) -> None:
    if line.event == "SessionEnd":
        span.end(line.ms)
    elif line.event in OPENED:
        span.open(line.ms)
