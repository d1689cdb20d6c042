"""`status`: how full the window is, the other agents, and whether a task still fits."""

import time
from typing import Any

from holdfast.mcp import client_session
from holdfast.mcp.answers import ToolAnswer
from holdfast.mcp.tool_table import StatusArguments
from holdfast.settings import load as settings_load
from holdfast.window import health, live_windows, measurement
from holdfast.window.guard import estimate_mark
from holdfast.window.health import read_compactions

MAX_CLEARED = 8  # tool results that Claude Code cleared; `expand` returns one by its id
FIELDS = (
    *("status", "recommended_action", "used_tokens", "edge_tokens", "used_ratio", "room_tokens"),
    *("estimated", "zone", "alert", "velocity_tokens_per_op", "ops_left", "minutes_left"),
    *("forecast_basis", "compactions", "checkpoint_ms", "checkpoint_trigger", "checkpoint_path"),
    *("session_id", "model"),
)


def answer_status(asked: StatusArguments) -> ToolAnswer:
    folder, state = client_session.window()
    settings, now_ms = settings_load.load(state.project), int(time.time() * 1000)
    seen = measurement.of_transcript(state, settings, now_ms, folder)
    found = health.describe(seen, state, settings.share("watch_at"))
    fields: dict[str, Any] = {name: found[name] for name in FIELDS}
    fields["compactions"], microcompactions = read_compactions(state)
    if gone := microcompactions["cleared"]:
        fields["cleared_results"] = gone[-MAX_CLEARED:]
    if asked.task_tokens:
        fields["task"] = health.describe_fit(found, asked.task_tokens)
    share = f"{estimate_mark(found['estimated'])}{found['used_ratio']:.0%}"
    return ToolAnswer(
        words=f"{share} of {found['edge_tokens']:,} tokens used, {found['zone']}",
        fields=fields,
        under="agents",
        rows=live_windows.peers_of(state, settings, now_ms, asked.task_tokens),
    )
