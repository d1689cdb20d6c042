"""Who else is at work: the agents of a session, and other sessions of its project."""

from __future__ import annotations

from typing import Any

from holdfast.settings.load import Settings
from holdfast.window.guard import Thresholds, place
from holdfast.window.state import State, all_windows
from holdfast.wire import places

LIVE_MS = 30 * 60_000  # unheard of for longer, it was killed or left open
MOST = 50


def of(state: State, settings: Settings, now_ms: int) -> list[dict[str, Any]]:
    """Live windows beside this one, fullest first, each as it was last noted."""
    zones = Thresholds.of(settings).zones
    beside = [
        other
        for folder, other in all_windows(now_ms - LIVE_MS)
        if _is_company(other, state) and _is_live(folder, other, now_ms)
    ]
    beside.sort(key=_used_ratio, reverse=True)
    return [_told(one, zones) for one in beside[:MOST]]


def _is_company(other: State, state: State) -> bool:
    same_window = (other.session_id, other.agent_id) == (state.session_id, state.agent_id)
    together = other.session_id == state.session_id or (
        bool(state.project) and other.project == state.project
    )
    return together and not same_window


def _is_live(folder: str, other: State, now_ms: int) -> bool:
    over = bool(other.ended_ms) or places.is_closed(folder)
    return not over and now_ms - other.known_ms < LIVE_MS


def _told(one: State, zones: tuple[float, float, float]) -> dict[str, Any]:
    ratio = _used_ratio(one)
    return {
        "session_id": one.session_id,
        "agent_id": one.agent_id or None,
        "agent_type": one.agent_type or None,
        "used_tokens": one.used_tokens,
        "used_ratio": round(ratio, 4),
        "zone": place(ratio, zones).name.lower(),
        "velocity_tokens_per_op": round(one.velocity, 1) or None,
        "checkpoint_ms": one.checkpoint_ms or None,
        "at_ms": one.known_ms,
    }


def _used_ratio(one: State) -> float:
    return one.used_tokens / one.edge_tokens if one.edge_tokens else 0.0
