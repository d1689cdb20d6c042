"""At the end of a turn: the user is told what the model already heard.

Never a word to the model: any context here would start the turn again.
"""

from __future__ import annotations

from holdfast.client import outputs
from holdfast.hook.entry import Moment
from holdfast.lifecycle import judging


def tell(moment: Moment) -> str:
    return outputs.answer("Stop", to_user=judging.pay(moment))
