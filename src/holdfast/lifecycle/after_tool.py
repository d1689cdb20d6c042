"""After a tool call (asynchronous): what is said here reaches the model alone."""

from __future__ import annotations

from holdfast.client import outputs
from holdfast.hook.entry import Moment
from holdfast.lifecycle import judging
from holdfast.settings import load as settings_load


def tell(moment: Moment) -> str:
    """Tell the model now; the user is owed the same word by the next hook that can be seen.

    What an asynchronous hook of a subagent prints goes to its parent (0 of 5 requests of the
    agent had it, the parent's next one did): of a subagent nothing is said, only noted.
    """
    news = judging.judge(moment)
    said = "" if moment.payload.get("agent_id") else news.to_model
    if not said and settings_load.load().word("server"):
        from holdfast.work import forward  # only who has a server pays; a word is never held up

        forward.in_passing(moment.now_ms)
    return outputs.answer(moment.line.event, to_model=said)
