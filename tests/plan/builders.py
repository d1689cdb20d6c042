"""Plans, tasks and past requests: name what matters, default the rest."""

from typing import Any

from holdfast.plan.estimate import TaskEstimate
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.plan.workflow import TaskPiece
from tests.builders import an_answer


def a_task(name: str = "one", **given: Any) -> PlanTask:
    named = {"spec": name, "title": name, "paths": given.get("files", ()), **given}
    return PlanTask(id=name, **named)


def a_plan(*tasks: PlanTask) -> TaskPlan:
    return TaskPlan("a plan", tasks)


def a_piece(name: str = "one", tokens: int = 1000, **given: Any) -> TaskPiece:
    return TaskPiece(a_task(name, **given), TaskEstimate(tokens, tokens // 2, tokens * 2, "a test"))


def an_edit(used: int, name: str, *files: str) -> dict[str, Any]:
    """An answer that edits files."""
    line = an_answer(used, id=name)
    line["message"]["content"] = [
        {"type": "tool_use", "id": f"{name}{n}", "name": "Edit", "input": {"file_path": file}}
        for n, file in enumerate(files)
    ]
    return line
