"""Plans, tasks and past requests: name what matters, default the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.plan.estimates.estimate import Past, TaskEstimate, make_case
from holdfast.plan.estimates.features import extract_features
from holdfast.plan.estimates.past_requests import PastRequest
from holdfast.plan.room import PlanRoom
from holdfast.plan.sizes import TaskSizes
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask, TaskPlan


def a_task(name: str = "one", **given: Any) -> PlanTask:
    return PlanTask(id=name, spec=given.pop("spec", name), title=given.pop("title", name), **given)


def a_plan(*tasks: PlanTask) -> TaskPlan:
    return TaskPlan("a plan", tasks)


def a_room(tokens: int = 100_000, now: int | None = None, specs: int = 3) -> PlanRoom:
    return PlanRoom(tokens if now is None else now, tokens, 2 * tokens, specs, "a test", here=True)


def a_piece(name: str = "one", tokens: int = 1000, **given: Any) -> TaskPiece:
    return TaskPiece(a_task(name, **given), TaskEstimate(tokens, tokens // 2, tokens * 2, "a test"))


def a_request(
    words: str = "fix it", growth: int = 5000, touched: int = 1, **given: Any
) -> PastRequest:
    known = {"position": 0, "fill_tokens": 20_000, "planning": False, "earlier_tokens": 0}
    return PastRequest(
        extract_features(words), touched=touched, growth_tokens=growth, **{**known, **given}
    )


def a_past(*requests: PastRequest, here: bool = True) -> Past:
    return Past([make_case(one, here) for one in requests])


def estimated(task: PlanTask, past: Past) -> TaskEstimate:
    return TaskSizes(past, Path("/nonexistent")).estimate(task)
