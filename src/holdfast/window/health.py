"""Describe a window as plain values, for `status --json` and to decide where a task fits; and the
tool results that a microcompaction dropped from it, which the transcript still has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.client.limit_settings import from_json
from holdfast.redact.find import redact
from holdfast.transcript import lookup
from holdfast.transcript.blocks import ToolUse

if TYPE_CHECKING:
    from holdfast.window.measurement import View
    from holdfast.window.state import State

CONTEXT_HIGH, OK = "context_high", "ok"
_AHEAD = "ops_left", "ops_left_low", "ops_left_high", "minutes_left", "pace_ms"
_NOTED = (
    *("checkpoint_trigger", "checkpoint_path", "checkpoint_removed"),
    *("cwd", "project", "transcript"),
)
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
    velocity = forecast.velocity_tokens_per_op
    used, edge = view.reading.used_tokens, view.edge.edge_tokens
    return {
        "status": judge_status(verdict.used_ratio, watch_at),
        "recommended_action": recommend_action(used, edge, state.checkpoint_tokens, watch_at),
        "session_id": state.session_id,
        **{name: getattr(state, name) or None for name in ("agent_id", "agent_type")},
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
        "velocity_tokens_per_op": None if velocity is None else round(velocity, 1),
        **{name: getattr(forecast, name) for name in _AHEAD},
        "forecast_basis": forecast.basis,
        "basis": view.reading.basis,
        "estimated": view.reading.estimated,
        "compacting": view.reading.basis == "compacting",
        "at_ms": view.reading.at_ms,
        **{name: getattr(view.facts, name) or None for name in ("model", "client_version")},
        "switches": from_json(state.switches).as_json(),
        "compactions": state.compactions,
        "checkpoint_ms": state.saved_ms or None,
        **{name: getattr(state, name) or None for name in _NOTED},
    }


def describe_fit(window: dict[str, Any], task_tokens: int) -> dict[str, Any]:
    """Return whether a task fits into a window of `describe`, and how full it makes it."""
    used = window["used_tokens"] + task_tokens
    return {
        "task_tokens": task_tokens,
        "fits": task_fits(window["room_tokens"], task_tokens),
        "used_ratio_after": round(used / window["edge_tokens"], 4),
    }


CALL_CHARS = 200
LONGEST_ARGUMENT = 32_000


def name_call(use: ToolUse) -> str:
    """Return a tool call on one line: the tool, and the first text that it was given."""
    values = use.input.values()
    first = next((value for value in values if isinstance(value, str) and value), "")
    return f"{use.name} {redact(first[:LONGEST_ARGUMENT])[:CALL_CHARS]}".strip()


def read_compactions(state: State) -> tuple[int, dict[str, Any]]:
    """Count the compactions, which hooks did not see in a session from before the installation.
    Also return how often results were cleared, how many tokens, and which results: `holdfast
    search --expand ID` shows each."""
    transcript = Path(state.transcript)
    try:
        freed = lookup.compactions(transcript, sidechain=bool(state.agent_id))
        ids = [each for one in freed.thinned for each in one.cleared_ids]
        found = list(lookup.find_calls(transcript, ids)) if ids else []
    except (OSError, ValueError):
        freed, ids, found = lookup.Compactions(), [], []
    return max(freed.count, state.compactions), {
        "count": len(freed.thinned),
        "saved_tokens": sum(one.saved_tokens for one in freed.thinned),
        "cleared_tool_use_ids": ids,
        "cleared": [
            {"id": one.use.id, "call": name_call(one.use), "chars": len(one.result.text)}
            for one in found
        ],
    }
