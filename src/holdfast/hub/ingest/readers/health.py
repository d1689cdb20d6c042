"""A window's health as `status --json` says it, from what its hooks noted: nothing is read anew."""

from __future__ import annotations

from typing import Any

from holdfast.hub.ingest.readers.clean_text import clean_value
from holdfast.hub.ingest.records import TEXT_CHARS
from holdfast.settings import load as settings_load
from holdfast.window import guard, health
from holdfast.window.guard import Alert, Thresholds
from holdfast.window.state import State


def of(state: State, used_tokens: int, at_ms: int, *, estimated: bool) -> dict[str, Any]:
    """`used_tokens`, `at_ms` and `estimated` are of the newest reading: newer than the notes, or
    the noted one."""
    edge = state.edge_tokens
    ratio = used_tokens / edge
    settings = settings_load.load(state.project)
    thresholds, watch_at = Thresholds.of(settings), settings.share("watch_at")
    left = max(0, edge - used_tokens)
    ops = int(left / state.velocity) if state.velocity > 0 else None
    paced = ops is not None and state.pace_ms > 0
    found = {
        "status": health.status(ratio, watch_at),
        "recommended_action": health.action(used_tokens, edge, state.checkpoint_tokens, watch_at),
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
    }
    cleaned: dict[str, Any] = clean_value(found, TEXT_CHARS)
    return cleaned
