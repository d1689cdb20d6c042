"""Gather what is new since a position into a batch of records: from a window's spool and
transcript, from the checkpoints and from the audit log. Batches are bounded and resumable; times
and ids come from what is read.

A spool line records that a call was made; the transcript has its details. Both the spool and the
audit log only grow. A file is identified by its first bytes, because rotation gives its name to
another file. Nothing here touches a database, so a hook can gather too.
"""

import os
from collections.abc import Iterable
from typing import Any
from zlib import crc32

from holdfast.files import folders
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import clean, clean_value, replace_unstorable
from holdfast.hub.ingest import windows
from holdfast.hub.ingest.from_turns import TurnRecords, type_of
from holdfast.hub.ingest.records import (
    MOST_CHARS,
    MOST_RECORDS,
    NAME_CHARS,
    PATH_CHARS,
    TEXT_CHARS,
    UNKNOWN_AGENT,
    Position,
    RecordBatch,
    RecordedAction,
    RecordedAuditLine,
    RecordedCheckpoint,
    RecordedContext,
    RecordedEvent,
    RecordedSubtask,
    RecordedWindow,
)
from holdfast.hub.ingest.windows import PAST, ReadPosition, Span, WindowReader
from holdfast.window.live_windows import look
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


WINDOW, CHECKPOINTS, AUDIT = "window", "checkpoints", "audit"
MAIN_TYPE = "main"


def sources(sessions: Iterable[str] | None = None) -> list[str]:
    """Every source of this machine, or those that tell of these sessions (names of their folders);
    a session's main window comes before those of its agents. Names that Holdfast does not give
    are skipped: no database can store every name of a folder."""
    here = machine()
    keys = (key for key in sorted(folders.names_in(folders.root())) if "." not in key)
    found = [
        *(f"{WINDOW}:{name}" for name in windows.all_windows(sessions)),
        *(f"{CHECKPOINTS}:{here}:{key}" for key in keys if key != "lock"),
        f"{AUDIT}:{here}",
    ]
    return [source for source in found if source.isascii()]


def gather(source: str, position: Position) -> RecordBatch | None:
    """Return the next batch of this source, or None when nothing is new."""
    kind, _, name = source.partition(":")
    if kind == WINDOW:
        window = windows.find_window(name)
        until, records = _read_window(window, position) if window else (position, [])
    elif kind == PAST:
        until, records = _read_past(name, position)
    elif kind == CHECKPOINTS:
        until, records = read_checkpoints(name.partition(":")[2], position)
    else:
        offsets = {k: v for k, v in position.items() if type(v) is int}
        until, records = read_audit(offsets)
    if until == position:
        return None
    return RecordBatch(source, position, until, records)


def name_on_server(source: str) -> str:
    """Return the source's name on a team's server.

    It includes the machine: two machines with a copied home have the same sessions, and with one
    position for both, each would skip what the other has sent.
    """
    kind, _, name = source.partition(":")
    return f"{kind}:{machine()}:{name}" if kind == WINDOW else source


def session_of(source: str) -> str:
    """Return the session of a window's source; empty for other sources."""
    kind, _, name = source.partition(":")
    found = windows.find_window(name) if kind == WINDOW else None
    return found.session_id if found else ""


def machine() -> str:
    """Sources of different machines have different names in a shared store (`name_on_server`)."""
    return ids.make_id("machine", os.uname().nodename, places.home())[:8]


def _read_past(name: str, position: Position) -> tuple[Position, list[RecordedEvent]]:
    """The first batch only lists the session, so that all are listed before one is read."""
    window = windows.find_past(name)
    if window is None:
        return position, []
    if not position:
        held = ReadPosition()
        records = windows.list_past(window, held)
        return windows.position_text(held), records
    return _read_window(windows.with_limit(window), position)


def _read_window(window: WindowReader, position: Position) -> tuple[Position, list[RecordedEvent]]:
    held = windows.parse_position(position)
    span, before = Span(held), (held.first_ms, held.last_ms)
    records = read_spool(window, held, span)
    turns = TurnRecords(window, held, span)
    if window.transcript:
        turns.read()
    records += turns.records
    moved = before != (held.first_ms, held.last_ms)
    health = _read_health(window, held) if held.last_ms else []
    is_named = bool(health and window.agent_id)  # a hook may note its kind after its first line
    if records or moved or span.has_turned or is_named:
        records.append(_context(window, turns))
    records += health
    if records:
        records = [*span.records(window), *records]
    return windows.position_text(held), records


def _read_health(window: WindowReader, held: ReadPosition) -> list[RecordedEvent]:
    """Return the window's health if it changed, as its transcript tells it now."""
    state = window.state
    known = look([(window.folder, state)], row_times.now_ms()) if state.known_ms else {}
    if window.folder not in known:
        return []
    at_ms = max(state.known_ms, held.last_ms)
    told = known[window.folder] | {"at_ms": at_ms, "machine": os.uname().nodename}
    health: dict[str, Any] = clean_value(told, TEXT_CHARS)
    noted = f"{crc32(repr(health).encode('utf-8', 'replace')):08x}"
    if noted == held.state:
        return []
    held.state = noted
    return [
        RecordedWindow(
            **window.names,
            agent_type=window.agent_type,
            at_ms=at_ms,
            used_tokens=health["used_tokens"],
            health=health,
        )
    ]


def _context(window: WindowReader, turns: TurnRecords) -> RecordedContext:
    subtask = ids.subtask_id(window.session_id, window.agent_id) if window.agent_id else ""
    return RecordedContext(
        id=ids.context_id(window.session_id, window.agent_id),
        session_id=window.session_id,
        project_id=window.project_id,
        agent_id=window.agent_id or window.session_id,
        agent_type=window.agent_type or (UNKNOWN_AGENT if window.agent_id else MAIN_TYPE),
        at_ms=turns.reached.last_ms,
        subtask_id=subtask,
        skills=turns.skills[-50:],
        progress_summary=turns.progress,
    )


LARGEST_BYTES = 2 << 20
MOST_AT_ONCE = 200


def read_checkpoints(key: str, position: Position) -> tuple[Position, list[RecordedEvent]]:
    folder = f"{folders.root()}/{key}"
    stamp = places.modified_ms(folder)
    same = position.get("stamp") == stamp
    if same and not position.get("after"):
        return position, []
    after = str(position.get("after", "")) if same else ""
    records: list[RecordedEvent] = []
    read_bytes = 0
    for name in sorted(folders.names_in(folder)):
        if not name.endswith(".json") or name <= after:
            continue
        if len(records) >= MOST_AT_ONCE or read_bytes > MOST_CHARS:
            return {"stamp": stamp, "after": after}, records
        after, data = name, places.read_small(f"{folder}/{name}", LARGEST_BYTES + 1)
        read_bytes += len(data)
        record = _parse_checkpoint(data)
        records += [record] if record else []
    return {"stamp": stamp}, records


def _parse_checkpoint(data: bytes) -> RecordedEvent | None:
    found = parse_object(data) if len(data) <= LARGEST_BYTES else {}
    at_ms = row_times.from_iso(text_of(found, "timestamp"))
    checkpoint_id, session_id = text_of(found, "checkpoint_id"), text_of(found, "session_id")
    project = replace_unstorable(text_of(found, "project"))[:PATH_CHARS].rstrip("/") or "/"
    if not at_ms or not 0 < at_ms < 1 << 53 or not checkpoint_id or not session_id:
        return None
    return RecordedCheckpoint(
        id=ids.checkpoint_row_id(project, checkpoint_id),
        checkpoint_id=replace_unstorable(checkpoint_id)[:NAME_CHARS],
        session_id=replace_unstorable(session_id)[:NAME_CHARS],
        project_id=ids.project_id(project),
        path=project,
        at_ms=at_ms,
        summary=clean(text_of(found, "context_summary"), TEXT_CHARS),
        snapshot=clean_value(found, TEXT_CHARS),
    )
