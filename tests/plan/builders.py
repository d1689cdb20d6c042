"""Plans, tasks and past requests: name what matters, default the rest."""

from __future__ import annotations

from typing import Any

from holdfast.plan.estimates.estimate import Estimate, Past, seen
from holdfast.plan.estimates.features import heard
from holdfast.plan.estimates.past_requests import Used
from holdfast.plan.room import Room
from holdfast.plan.split import Piece
from holdfast.plan.task import Plan, Task


def a_task(name: str = "one", **given: Any) -> Task:
    return Task(id=name, spec=given.pop("spec", name), title=given.pop("title", name), **given)


def a_plan(*tasks: Task) -> Plan:
    return Plan("a plan", tasks)


def a_room(tokens: int = 100_000, now: int | None = None, specs: int = 3) -> Room:
    return Room(tokens if now is None else now, tokens, 2 * tokens, specs, "a test", here=True)


def a_piece(name: str = "one", tokens: int = 1000, **given: Any) -> Piece:
    return Piece(a_task(name, **given), Estimate(tokens, tokens // 2, tokens * 2, "a test"))


def a_request(words: str = "fix it", growth: int = 5000, touched: int = 1, **given: Any) -> Used:
    known = {"position": 0, "fill_tokens": 20_000, "planning": False, "earlier_tokens": 0}
    return Used(heard(words), touched=touched, growth_tokens=growth, **{**known, **given})


def a_past(*requests: Used, here: bool = True) -> Past:
    return Past([seen(one, here) for one in requests])
