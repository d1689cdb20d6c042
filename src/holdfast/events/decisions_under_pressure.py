"""Decisions made in a nearly full window on this machine, from the audit log and the record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.hub import row_times
from holdfast.record import RecordReader
from holdfast.record import model as known
from holdfast.record.decisions import decided
from holdfast.redact import redact
from holdfast.window import audit
from holdfast.window import state as states
from holdfast.window.audit import FREED, PRESSURE, ZONES, under_pressure
from holdfast.wire import log, places

MOST_RECORD_BYTES = 32 << 20
MOST_ASKED = 300


def of_machine(session: str = "") -> list[dict[str, Any]]:
    """Decisions of sessions whose id starts with this, oldest first. Nothing is written."""
    windows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for event in audit.events():
        name, agent = str(event.get("session_id", "")), str(event.get("agent_id", ""))
        if name.startswith(session) and event.get("event") in (PRESSURE, FREED):
            windows.setdefault((name, agent), []).append(event)
    found = [
        {"session_id": name, "agent_id": agent, "at": row_times.written(one["at_ms"]), **one}
        for (name, agent), events in windows.items()
        if any(event.get("zone") in ZONES for event in events)
        for one in under_pressure(_decided(name, agent), events)
    ]
    return sorted(found, key=lambda one: (one["at_ms"], one["turn"]))


def _decided(session: str, agent: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each decision with its turn: the request, and the question that the decision answers."""
    folder = places.window(session, agent)
    record = known.load(places.read_small(f"{folder}/record.json", MOST_RECORD_BYTES))
    transcript = states.load(folder).transcript
    try:
        record = RecordReader(record, sidechain=bool(agent)).read(transcript)
    except Exception as slip:  # the client removes transcripts after 30 days: what was read stays
        log.add("INFO", session[:8], f"its transcript was not read: {slip!r}")
    for one in decided(record) if record is not None else ():
        if (at_ms := row_times.read(one.place.at)) is not None:
            yield (
                at_ms,
                {
                    "turn": one.turn,
                    "asked": redact(one.asked)[:MOST_ASKED],
                    "by": one.by,
                    "question": redact(one.question),
                    "decision": redact(one.text),
                },
            )
