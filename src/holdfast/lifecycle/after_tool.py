"""After a tool call (asynchronous): what is said here reaches the model alone."""

from __future__ import annotations

from holdfast.client import outputs
from holdfast.hook.entry import Moment
from holdfast.lifecycle import judging


def tell(moment: Moment) -> str:
    """Tell the model now; the user is owed the same word by the next hook that can be seen."""
    news = judging.judge(moment)
    return outputs.answer(moment.line.event, to_model=news.to_model)
