"""What is new since a position, as a batch of deeds: from a window's spool and transcript, from the
checkpoints, from the audit log. Bounded and resumable; times and ids come from what is read.

Nothing here touches a database, so that a hook can do it too.
"""

from __future__ import annotations

import os
from zlib import crc32

import msgspec

from holdfast.hub import derived_ids
from holdfast.hub.ingest.readers import (
    from_audit,
    from_checkpoints,
    from_spool,
    health,
    read_position,
)
from holdfast.hub.ingest.readers import window as windows
from holdfast.hub.ingest.readers.from_transcript import Story
from holdfast.hub.ingest.readers.read_position import ReadPosition
from holdfast.hub.ingest.readers.time_range import Span
from holdfast.hub.ingest.readers.window import WindowReader
from holdfast.hub.ingest.records import ContextSeen, Deed, Position, RecordBatch, WindowSeen
from holdfast.hub.store import ids
from holdfast.record.secrets import ToldSecrets
from holdfast.wire import places

WINDOW, CHECKPOINTS, AUDIT = "window", "checkpoints", "audit"
MAIN_TYPE = "main"


def sources() -> list[str]:
    """Every source of this machine; a session's main window comes before those of its agents."""
    here = machine()
    return [
        *(f"{WINDOW}:{name}" for name in windows.all_sources()),
        *(f"{CHECKPOINTS}:{here}:{key}" for key in from_checkpoints.projects()),
        f"{AUDIT}:{here}",
    ]


def gather(source: str, position: Position) -> RecordBatch | None:
    """The next batch of this source, or None when there is nothing new."""
    kind, _, name = source.partition(":")
    if kind == WINDOW:
        until, deeds = _window(name, position)
    elif kind == CHECKPOINTS:
        until, deeds = from_checkpoints.read_on(name.partition(":")[2], position)
    else:
        told = {k: v for k, v in position.items() if type(v) is int}
        until, deeds = from_audit.read_on(told)
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
    held = read_position.read(position)
    span = Span(held.first_ms, held.last_ms)
    deeds = from_spool.read_on(window, held, span)
    story = Story(window, held, span)
    story.read()
    deeds += story.deeds
    moved = (span.first_ms, span.last_ms) != (held.first_ms, held.last_ms)
    held.first_ms, held.last_ms = span.first_ms, span.last_ms
    if deeds or moved or span.has_turned:
        deeds.append(_context(window, story, span))
    if span.last_ms:
        deeds += _seen(window, held)
    until, told = read_position.written(held), [*(span.deeds(window) if deeds else []), *deeds]
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
    told = health.of(state, used, at_ms, estimated=estimated)
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


def _context(window: WindowReader, story: Story, span: Span) -> ContextSeen:
    subtask = derived_ids.subtask_id(window.session_id, window.agent_id) if window.agent_id else ""
    return ContextSeen(
        id=derived_ids.context_id(window.session_id, window.agent_id),
        session_id=window.session_id,
        project_id=window.project_id,
        agent_id=window.agent_id or window.session_id,
        agent_type=window.agent_type or (MAIN_TYPE if not window.agent_id else "agent"),
        at_ms=span.last_ms,
        subtask_id=subtask,
        skills=story.skills[-50:],
        progress_summary=story.progress,
    )
