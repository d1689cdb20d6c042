"""At the user's prompt (synchronous): report to model and user, and deliver what is pending."""

from __future__ import annotations

from holdfast.client import hook_outputs
from holdfast.events import alerting
from holdfast.hook.observation import Moment


def tell(moment: Moment) -> str:
    news = alerting.judge(moment, shown_to_user=True)
    return hook_outputs.add_context(moment.line.event, to_model=news.to_model, to_user=news.to_user)
