"""Describe a window as plain values, for `status --json` and to decide where a task fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client.limit_settings import from_json

if TYPE_CHECKING:
    from holdfast.window.state import State
    from holdfast.window.view import View

CONTEXT_HIGH, OK = "context_high", "ok"
TRIGGER, NOTHING = "trigger_checkpoint", "none"


def task_fits(room_tokens: int | None, tokens: int) -> bool | None:
    """Whether a task of `tokens` ends before the compaction limit; None if the room is unknown."""
    return None if room_tokens is None else tokens <= room_tokens


def judge_status(used_ratio: float, watch_at: float) -> str:
    return CONTEXT_HIGH if used_ratio >= watch_at else OK


def recommend_action(
    used_tokens: int, edge_tokens: int, checkpoint_tokens: int, watch_at: float
) -> str:
    """Recommend a checkpoint if none was saved since the window passed `watch_at`.
    `checkpoint_tokens` is how full the window was at the last checkpoint."""
    threshold = watch_at * edge_tokens
    saved = min(checkpoint_tokens, used_tokens)
    return TRIGGER if used_tokens >= threshold > saved else NOTHING


def describe(view: View, state: State, watch_at: float) -> dict[str, Any]:
    """Return everything that is known about a window at one moment; None means unknown."""
    verdict, forecast = view.verdict, view.forecast
    used, edge = view.reading.used_tokens, view.edge.edge_tokens
    return {
        "status": judge_status(verdict.used_ratio, watch_at),
        "recommended_action": recommend_action(used, edge, state.checkpoint_tokens, watch_at),
        "session_id": state.session_id,
        "agent_id": state.agent_id or None,
        "agent_type": state.agent_type or None,
        "used_tokens": used,
        "window_tokens": view.edge.window_tokens,
        "edge_tokens": edge,
        "edge_kind": view.edge.kind,
        "edge_source": view.edge.source,
        "used_ratio": round(verdict.used_ratio, 4),
        "room_tokens": max(0, edge - used),
        "zone": verdict.zone.name.lower(),
        "alert": verdict.alert.name.lower() if verdict.alert else None,
        "warning_left_ratio": round(verdict.warning_left, 4),
        "fast_climb": verdict.fast_climb,
        "velocity_tokens_per_op": _round(forecast.velocity_tokens_per_op),
        "ops_left": forecast.ops_left,
        "ops_left_low": forecast.ops_left_low,
        "ops_left_high": forecast.ops_left_high,
        "minutes_left": forecast.minutes_left,
        "pace_ms": forecast.pace_ms,
        "forecast_basis": forecast.basis,
        "basis": view.reading.basis,
        "estimated": view.reading.estimated,
        "compacting": view.reading.basis == "compacting",
        "at_ms": view.reading.at_ms,
        "model": view.model or None,
        "client_version": view.client_version or None,
        "switches": from_json(state.switches).as_json(),
        "compactions": state.compactions,
        "checkpoint_ms": state.saved_ms or None,
        "checkpoint_trigger": state.checkpoint_trigger or None,
        "checkpoint_path": state.checkpoint_path or None,
        "cwd": state.cwd or None,
        "project": state.project or None,
        "transcript": state.transcript or None,
    }


def describe_fit(window: dict[str, Any], task_tokens: int) -> dict[str, Any]:
    """Return whether a task fits into a window (as `describe` returns it), and how full it makes
    it."""
    used = window["used_tokens"] + task_tokens
    return {
        "task_tokens": task_tokens,
        "fits": task_fits(window["room_tokens"], task_tokens),
        "used_ratio_after": round(used / window["edge_tokens"], 4),
    }


def _round(number: float | None) -> float | None:
    return None if number is None else round(number, 1)
