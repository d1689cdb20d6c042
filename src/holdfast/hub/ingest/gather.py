"""What is new since a position, as a batch of records: from a window's spool and transcript, from
the checkpoints, from the audit log. Bounded and resumable; times and ids come from what is read.

Nothing here touches a database, so that a hook can do it too.
"""

from __future__ import annotations

import json
import os
from typing import Any
from zlib import crc32

import msgspec

from holdfast.files import folders
from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import clean, clean_value, whole
from holdfast.hub.ingest.readers import from_hooks
from holdfast.hub.ingest.readers import window as windows
from holdfast.hub.ingest.readers.from_transcript import Story
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
    CheckpointTaken,
    ContextSeen,
    Deed,
    Position,
    RecordBatch,
    WindowSeen,
)
from holdfast.record.secrets import ToldSecrets
from holdfast.settings import load as settings_load
from holdfast.window import guard, velocity
from holdfast.window.guard import Alert, Thresholds
from holdfast.window.health import action, status
from holdfast.window.state import State
from holdfast.window.view import COMPACTING_MS
from holdfast.wire import places

WINDOW, CHECKPOINTS, AUDIT = "window", "checkpoints", "audit"
MAIN_TYPE = "main"


def sources() -> list[str]:
    """Every source of this machine; a session's main window comes before those of its agents."""
    here = machine()
    return [
        *(f"{WINDOW}:{name}" for name in windows.all_sources()),
        *(f"{CHECKPOINTS}:{here}:{key}" for key in projects()),
        f"{AUDIT}:{here}",
    ]


def gather(source: str, position: Position) -> RecordBatch | None:
    """The next batch of this source, or None when there is nothing new."""
    kind, _, name = source.partition(":")
    if kind == WINDOW:
        until, deeds = _window(name, position)
    elif kind == CHECKPOINTS:
        until, deeds = read_on(name.partition(":")[2], position)
    else:
        told = {k: v for k, v in position.items() if type(v) is int}
        until, deeds = from_hooks.read_audit(told)
    if until == position:
        return None
    return RecordBatch(source, position, until, deeds)


def told_as(source: str) -> str:
    """Its name at a team's server. A session is of one machine, unless a home was copied: with one
    position for both, each would skip what the other had sent."""
    kind, _, name = source.partition(":")
    return f"{kind}:{machine()}:{name}" if kind == WINDOW else source


def session_of(source: str) -> str:
    """The session a window's source tells of; empty for the others."""
    kind, _, name = source.partition(":")
    found = windows.of(name) if kind == WINDOW else None
    return found.session_id if found else ""


def machine() -> str:
    """Sources of different machines have different names in a shared store (`told_as`)."""
    return ids.of("machine", os.uname().nodename, places.home())[:8]


def _window(name: str, position: Position) -> tuple[Position, list[Deed]]:
    window = windows.of(name)
    if window is None:
        return position, []
    held = parse_position(position)
    span = Span(held.first_ms, held.last_ms)
    deeds = from_hooks.read_spool(window, held, span)
    story = Story(window, held, span)
    story.read()
    deeds += story.deeds
    moved = (span.first_ms, span.last_ms) != (held.first_ms, held.last_ms)
    held.first_ms, held.last_ms = span.first_ms, span.last_ms
    if deeds or moved or span.has_turned:
        deeds.append(_context(window, story, span))
    if span.last_ms:
        deeds += _seen(window, held)
    until, told = position_text(held), [*(span.deeds(window) if deeds else []), *deeds]
    return _without_secrets(story.known, until, told)


def _without_secrets(
    known: ToldSecrets, until: Position, deeds: list[Deed]
) -> tuple[Position, list[Deed]]:
    """Each was cleaned by itself; what was told with its name elsewhere goes here."""
    if not known.bare:
        return until, deeds
    data = known.without(msgspec.json.encode(deeds), fits=True)
    kept = msgspec.json.decode(data, type=list[Deed])
    return msgspec.json.decode(known.without(msgspec.json.encode(until))), kept


def _seen(window: WindowReader, held: ReadPosition) -> list[Deed]:
    """The window's health, when its notes or its readings changed."""
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
    told = health_of(state, used, at_ms, estimated=estimated)
    told["compacting"] = told["compacting"] or _is_compacting(state, held)
    return [
        WindowSeen(
            session_id=window.session_id,
            project_id=window.project_id,
            agent_id=window.agent_id,
            agent_type=window.agent_type,
            at_ms=at_ms,
            used_tokens=told["used_tokens"],
            health=told,
        )
    ]


def _is_compacting(state: State, held: ReadPosition) -> bool:
    """Whether the newest answer is still the one from before the compaction, as a look finds it."""
    ago_ms = row_times.now_ms() - state.compacting_ms
    same = bool(state.compacting_answer) and held.message_id == state.compacting_answer
    return same and 0 <= ago_ms < COMPACTING_MS


def _context(window: WindowReader, story: Story, span: Span) -> ContextSeen:
    subtask = ids.subtask_id(window.session_id, window.agent_id) if window.agent_id else ""
    return ContextSeen(
        id=ids.context_id(window.session_id, window.agent_id),
        session_id=window.session_id,
        project_id=window.project_id,
        agent_id=window.agent_id or window.session_id,
        agent_type=window.agent_type or (MAIN_TYPE if not window.agent_id else "agent"),
        at_ms=span.last_ms,
        subtask_id=subtask,
        skills=story.skills[-50:],
        progress_summary=story.progress,
    )


def health_of(state: State, used_tokens: int, at_ms: int, *, estimated: bool) -> dict[str, Any]:
    """`used_tokens`, `at_ms` and `estimated` are of the newest reading: newer than the notes, or
    the noted one."""
    edge = state.edge_tokens
    ratio = used_tokens / edge
    settings = settings_load.load(state.project)
    thresholds, watch_at = Thresholds.of(settings), settings.share("watch_at")
    left = max(0, edge - used_tokens)
    ops = int(left / state.velocity) if state.velocity > 0 else None
    paced = ops is not None and state.pace_ms > 0
    low, high = (
        velocity.steps_range(left, state.growth, ops)
        if ops is not None and state.growth > 0
        else (None, None)
    )
    found = {
        "status": status(ratio, watch_at),
        "recommended_action": action(used_tokens, edge, state.checkpoint_tokens, watch_at),
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
        "checkpoint_ms": state.checkpoint_ms or None,
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
    """The projects that have any, as their folders are called."""
    found = folders.names_in(folders.root())
    return sorted(key for key in found if "." not in key and key != "lock")


def read_on(key: str, told: Position) -> tuple[Position, list[Deed]]:
    folder = f"{folders.root()}/{key}"
    stamp = _stamp(folder)
    same = told.get("stamp") == stamp
    if same and not told.get("after"):
        return told, []
    after = str(told.get("after", "")) if same else ""
    deeds: list[Deed] = []
    read_bytes = 0
    for name in sorted(folders.names_in(folder)):
        if not name.endswith(".json") or name <= after:
            continue
        if len(deeds) >= MOST_AT_ONCE or read_bytes > MOST_CHARS:
            return {"stamp": stamp, "after": after}, deeds
        after, data = name, places.read_small(f"{folder}/{name}", LARGEST_BYTES + 1)
        read_bytes += len(data)
        deed = _deed(data)
        deeds += [deed] if deed else []
    return {"stamp": stamp}, deeds


def _stamp(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns // 1000  # noqa: PTH116 (JSON's numbers end at 2**53)
    except OSError:
        return 0


def _deed(data: bytes) -> Deed | None:
    found = _snapshot(data)
    at_ms = row_times.read(_text(found, "timestamp"))
    checkpoint_id, session_id = _text(found, "checkpoint_id"), _text(found, "session_id")
    project = whole(_text(found, "project"))[:PATH_CHARS].rstrip("/") or "/"
    if not at_ms or not 0 < at_ms < 1 << 53 or not checkpoint_id or not session_id:
        return None
    return CheckpointTaken(
        id=ids.checkpoint_row_id(project, checkpoint_id),
        checkpoint_id=whole(checkpoint_id)[:NAME_CHARS],
        session_id=whole(session_id)[:NAME_CHARS],
        project_id=ids.project_id(project),
        path=project,
        at_ms=at_ms,
        summary=clean(_text(found, "context_summary"), TEXT_CHARS),
        snapshot=clean_value(found, TEXT_CHARS),
    )


def _snapshot(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data) if len(data) <= LARGEST_BYTES else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""
