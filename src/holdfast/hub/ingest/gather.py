"""Gather what is new since a position into a batch of records: from a window's spool and
transcript, from the checkpoints and from the audit log. Batches are bounded and resumable; times
and ids come from what is read.

Nothing here touches a database, so a hook can gather too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any
from zlib import crc32

import msgspec

from holdfast.files import folders
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import clean, clean_value, replace_unstorable
from holdfast.hub.ingest.readers import from_hooks
from holdfast.hub.ingest.readers import window as windows
from holdfast.hub.ingest.readers.from_transcript import TranscriptPass
from holdfast.hub.ingest.readers.window import (
    ReadPosition,
    Span,
    WindowReader,
    parse_position,
    position_text,
)
from holdfast.hub.ingest.records import (
    MOST_CHARS,
    NAME_CHARS,
    PATH_CHARS,
    TEXT_CHARS,
    UNKNOWN_AGENT,
    Position,
    RecordBatch,
    RecordedCheckpoint,
    RecordedContext,
    RecordedEvent,
    RecordedWindow,
)
from holdfast.record.secrets import ToldSecrets
from holdfast.settings import load as settings_load
from holdfast.window import guard, velocity
from holdfast.window.guard import Alert, Thresholds
from holdfast.window.health import judge_status, recommend_action
from holdfast.window.state import State
from holdfast.window.view import COMPACTING_MS
from holdfast.wire import places
from holdfast.wire.scan import text_of

WINDOW, CHECKPOINTS, AUDIT = "window", "checkpoints", "audit"
MAIN_TYPE = "main"


def sources(sessions: Iterable[str] | None = None) -> list[str]:
    """Every source of this machine, or those that tell of these sessions (names of their folders);
    a session's main window comes before those of its agents. Names that Holdfast does not give
    are skipped: no database can store every name of a folder."""
    here = machine()
    found = [
        *(f"{WINDOW}:{name}" for name in windows.all_windows(sessions)),
        *(f"{CHECKPOINTS}:{here}:{key}" for key in projects()),
        f"{AUDIT}:{here}",
    ]
    return [source for source in found if source.isascii()]


def gather(source: str, position: Position) -> RecordBatch | None:
    """Return the next batch of this source, or None when nothing is new."""
    kind, _, name = source.partition(":")
    if kind == WINDOW:
        until, records = _read_window(name, position)
    elif kind == CHECKPOINTS:
        until, records = read_checkpoints(name.partition(":")[2], position)
    else:
        offsets = {k: v for k, v in position.items() if type(v) is int}
        until, records = from_hooks.read_audit(offsets)
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


def main_window_of(source: str) -> str:
    """Return the source of the session's main window, whose hooks report each end of the session;
    empty if the source is not a window."""
    kind, _, name = source.partition(":")
    session, slash, _ = name.rpartition("/")
    return f"{kind}:{session}/{windows.MAIN}" if kind == WINDOW and slash else ""


def session_of(source: str) -> str:
    """Return the session of a window's source; empty for other sources."""
    kind, _, name = source.partition(":")
    found = windows.find_window(name) if kind == WINDOW else None
    return found.session_id if found else ""


def machine() -> str:
    """Sources of different machines have different names in a shared store (`name_on_server`)."""
    return ids.make_id("machine", os.uname().nodename, places.home())[:8]


def _read_window(name: str, position: Position) -> tuple[Position, list[RecordedEvent]]:
    window = windows.find_window(name)
    if window is None:
        return position, []
    held = parse_position(position)
    span = Span(held.first_ms, held.last_ms)
    records = from_hooks.read_spool(window, held, span)
    transcript_pass = TranscriptPass(window, held, span)
    transcript_pass.read()
    records += transcript_pass.records
    moved = (span.first_ms, span.last_ms) != (held.first_ms, held.last_ms)
    held.first_ms, held.last_ms = span.first_ms, span.last_ms
    held.note_ends(span.ends)
    health = _read_health(window, held) if span.last_ms else []
    is_named = bool(health and window.agent_id)  # a hook may note its kind after its first line
    if records or moved or span.has_turned or is_named:
        records.append(_context(window, transcript_pass, span))
    records += health
    if records:
        records = [*span.records(window), *records]
    return _without_secrets(transcript_pass.known, position_text(held), records)


def _without_secrets(
    known: ToldSecrets, until: Position, records: list[RecordedEvent]
) -> tuple[Position, list[RecordedEvent]]:
    """Remove secrets that are named elsewhere; each record was already redacted by itself."""
    if not known.bare:
        return until, records
    data = known.without(msgspec.json.encode(records), fits=True)
    kept = msgspec.json.decode(data, type=list[RecordedEvent])
    return msgspec.json.decode(known.without(msgspec.json.encode(until))), kept


def _read_health(window: WindowReader, held: ReadPosition) -> list[RecordedEvent]:
    """Return the window's health if its state or its readings changed."""
    state = window.state
    noted = f"{crc32(repr(state).encode('utf-8', 'replace')):08x}-{held.newest_ms}"
    at_ms = max(state.known_ms, held.newest_ms)
    if noted == held.state or not at_ms or not state.edge_tokens:
        return []
    held.state = noted
    newer = held.newest_ms > state.known_ms
    used, estimated = state.used_tokens, state.estimated
    if newer:
        used, estimated = held.newest_used, held.newest_estimated
    health = health_of(state, used, at_ms, estimated=estimated)
    health["compacting"] = health["compacting"] or _is_compacting(state, held)
    return [
        RecordedWindow(
            session_id=window.session_id,
            project_id=window.project_id,
            agent_id=window.agent_id,
            agent_type=window.agent_type,
            at_ms=at_ms,
            used_tokens=health["used_tokens"],
            health=health,
        )
    ]


def _is_compacting(state: State, held: ReadPosition) -> bool:
    """Return whether the newest answer is still the one from before the compaction."""
    ago_ms = row_times.now_ms() - state.compacting_ms
    same = bool(state.compacting_answer) and held.message_id == state.compacting_answer
    return same and 0 <= ago_ms < COMPACTING_MS


def _context(window: WindowReader, transcript_pass: TranscriptPass, span: Span) -> RecordedContext:
    subtask = ids.subtask_id(window.session_id, window.agent_id) if window.agent_id else ""
    return RecordedContext(
        id=ids.context_id(window.session_id, window.agent_id),
        session_id=window.session_id,
        project_id=window.project_id,
        agent_id=window.agent_id or window.session_id,
        agent_type=window.agent_type or (UNKNOWN_AGENT if window.agent_id else MAIN_TYPE),
        at_ms=span.last_ms,
        subtask_id=subtask,
        skills=transcript_pass.skills[-50:],
        progress_summary=transcript_pass.progress,
    )


def health_of(state: State, used_tokens: int, at_ms: int, *, estimated: bool) -> dict[str, Any]:
    """Compute a window's health.

    `used_tokens`, `at_ms` and `estimated` belong to the newest reading, which may be newer than
    the state's own.
    """
    edge = state.edge_tokens
    ratio = used_tokens / edge
    settings = settings_load.load(state.project)
    thresholds, watch_at = Thresholds.of(settings), settings.share("watch_at")
    left = max(0, edge - used_tokens)
    ops, low, high = velocity.steps_left(left, state.velocity, state.growth)
    paced = ops is not None and state.pace_ms > 0
    found = {
        "status": judge_status(ratio, watch_at),
        "recommended_action": recommend_action(
            used_tokens, edge, state.checkpoint_tokens, watch_at
        ),
        "session_id": state.session_id,
        "agent_id": state.agent_id or None,
        "agent_type": state.agent_type or None,
        "used_tokens": used_tokens,
        "window_tokens": state.window_tokens,
        "edge_tokens": edge,
        "edge_kind": state.edge_kind,
        "edge_source": state.edge_source,
        "used_ratio": round(ratio, 4),
        "room_tokens": left,
        "zone": guard.place(ratio, thresholds.zones).name.lower(),
        "alert": Alert(min(state.alert, Alert.CRITICAL)).name.lower() if state.alert else None,
        "velocity_tokens_per_op": round(state.velocity, 1) or None,
        "ops_left": ops,
        "ops_left_low": low,
        "ops_left_high": high,
        "minutes_left": round((ops or 0) * state.pace_ms / 60_000, 1) if paced else None,
        "forecast_basis": "as the hooks last measured" if ops is not None else "unknown",
        "basis": state.basis,
        "estimated": estimated,
        "compacting": state.basis == "compacting",
        "at_ms": at_ms,
        "model": state.model or None,
        "client_version": state.client_version or None,
        "switches": state.switches,
        "compactions": state.compactions,
        "checkpoint_ms": state.saved_ms or None,
        "checkpoint_trigger": state.checkpoint_trigger or None,
        "checkpoint_path": state.checkpoint_path or None,
        "cwd": state.cwd or None,
        "project": state.project or None,
        "transcript": state.transcript or None,
        "machine": os.uname().nodename,
    }
    cleaned: dict[str, Any] = clean_value(found, TEXT_CHARS)
    return cleaned


LARGEST_BYTES = 2 << 20
MOST_AT_ONCE = 200


def projects() -> list[str]:
    """Return the folder names of the projects that have checkpoints."""
    found = folders.names_in(folders.root())
    return sorted(key for key in found if "." not in key and key != "lock")


def read_checkpoints(key: str, position: Position) -> tuple[Position, list[RecordedEvent]]:
    folder = f"{folders.root()}/{key}"
    stamp = _stamp(folder)
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


def _stamp(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns // 1000  # noqa: PTH116 (JSON's numbers end at 2**53)
    except OSError:
        return 0


def _parse_checkpoint(data: bytes) -> RecordedEvent | None:
    found = _snapshot(data)
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


def _snapshot(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data) if len(data) <= LARGEST_BYTES else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}
