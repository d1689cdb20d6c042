"""After a tool call (asynchronous): what is said here reaches the model alone."""

from __future__ import annotations

from holdfast.client import hook_outputs
from holdfast.events import alerting
from holdfast.hook.observation import Moment
from holdfast.settings import load as settings_load


def tell(moment: Moment) -> str:
    """Tell the model now; the user is owed the same word by the next hook that can be seen.

    What an asynchronous hook of a subagent prints goes to its parent (0 of 5 requests of the
    agent had it, the parent's next one did): of a subagent nothing is said, only noted.
    """
    news = alerting.judge(moment, may_roll=True)
    said = "" if moment.payload.get("agent_id") else news.to_model
    if not said and settings_load.load().word("server"):
        _forward(moment.now_ms)  # only where there is no word: that is never held up
    if news.rolls:
        from holdfast.events import (
            compress_segments,  # every tenth turn of a window that is filling
        )

        compress_segments.in_passing(moment)
    return hook_outputs.add_context(moment.line.event, to_model=said)


def _forward(now_ms: int) -> None:
    """To the team's server; who has none pays for none of this."""
    from holdfast.hub.team import connection

    if connection.is_due(now_ms):
        from holdfast.hub.team import forward

        forward.in_passing(now_ms)
