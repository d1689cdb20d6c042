"""After a tool call (asynchronous): what is printed here reaches only the model."""

from __future__ import annotations

from holdfast.client import hook_outputs
from holdfast.events import alerting
from holdfast.hook.observation import Moment
from holdfast.settings import load as settings_load


def tell(moment: Moment) -> str:
    """Tell the model now; the next hook whose output is shown tells the user.

    What an asynchronous hook of a subagent prints goes to its parent (0 of 5 requests of the
    agent had it, the parent's next one did). So nothing is printed for a subagent.
    """
    news = alerting.judge(moment, may_compress=True)
    to_model = "" if moment.payload.get("agent_id") else news.to_model
    if not to_model and settings_load.load().word("server"):
        _forward(moment.now_ms)  # only if there is nothing to print, which must not wait
    if news.compresses:
        from holdfast.events import (
            compress_segments,  # every tenth turn of a window that is filling
        )

        compress_segments.in_passing(moment)
    return hook_outputs.add_context(moment.line.event, to_model=to_model)


def _forward(now_ms: int) -> None:
    """Send to the team server. Nothing is imported if there is none."""
    from holdfast.hub.team import connection

    if connection.is_due(now_ms):
        from holdfast.hub.team import forward

        forward.forward_from_hook(now_ms)
