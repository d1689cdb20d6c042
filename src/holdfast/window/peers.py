"""Who else is at work: the agents of a session, and other sessions of its project.

Hooks that are not woken record nothing. So the fill of a window, and whether anybody works in it,
are read from its transcript.
"""

from __future__ import annotations

from typing import Any

from holdfast.settings.load import Settings
from holdfast.window import health, windows
from holdfast.window.guard import Thresholds, place
from holdfast.window.state import State, all_windows
from holdfast.window.windows import LIVE_MS, is_over
from holdfast.wire import places

MOST = 50
READ = (
    "used_tokens",
    "used_ratio",
    "room_tokens",
    "estimated",
    "zone",
    "alert",
    "velocity_tokens_per_op",
    "ops_left",
    "minutes_left",
)


def of(state: State, settings: Settings, now_ms: int, task_tokens: int = 0) -> list[dict[str, Any]]:
    """Other live windows, fullest first, as they are now; with `task_tokens`, whether a task of
    that size still fits."""
    zones = Thresholds.of(settings).zones
    beside = [
        (folder, other)
        for folder, other in all_windows(now_ms - LIVE_MS)
        if _is_company(other, state) and _is_live(folder, other, now_ms)
    ]
    beside.sort(key=lambda pair: _used_ratio(pair[1]), reverse=True)
    looked = windows.look(beside[:MOST], now_ms)
    told = [_told(one, looked.get(folder) or _noted(one, zones)) for folder, one in beside[:MOST]]
    if task_tokens:
        told = [one | {"fits": health.task_fits(one["room_tokens"], task_tokens)} for one in told]
    return sorted(told, key=lambda one: float(one["used_ratio"]), reverse=True)


def _is_company(other: State, state: State) -> bool:
    same_window = (other.session_id, other.agent_id) == (state.session_id, state.agent_id)
    together = other.session_id == state.session_id or (
        bool(state.project) and other.project == state.project
    )
    return together and not same_window


def _is_live(folder: str, other: State, now_ms: int) -> bool:
    return not is_over(folder, other) and now_ms - _heard_ms(other) < LIVE_MS


def _heard_ms(other: State) -> int:
    """Last activity: a woken hook, the watcher, or a line in its transcript."""
    return max(other.known_ms, places.written_ms(other.transcript) if other.transcript else 0)


def _told(one: State, health: dict[str, Any]) -> dict[str, Any]:
    return {
        "session_id": one.session_id,
        "agent_id": one.agent_id or None,
        "agent_type": one.agent_type or None,
        **{name: health[name] for name in READ},
        "checkpoint_ms": one.checkpoint_ms or None,
        "at_ms": _heard_ms(one),
    }


def _noted(one: State, zones: tuple[float, float, float]) -> dict[str, Any]:
    """As last recorded, without a forecast: the transcript is not on this machine."""
    ratio = _used_ratio(one)
    return dict.fromkeys(READ) | {
        "used_tokens": one.used_tokens,
        "used_ratio": round(ratio, 4),
        "room_tokens": max(0, one.edge_tokens - one.used_tokens) if one.edge_tokens else None,
        "estimated": one.estimated,
        "zone": place(ratio, zones).name.lower(),
        "velocity_tokens_per_op": round(one.velocity, 1) or None,
    }


def _used_ratio(one: State) -> float:
    return one.used_tokens / one.edge_tokens if one.edge_tokens else 0.0
