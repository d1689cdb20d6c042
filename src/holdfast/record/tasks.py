"""Task lists, from any tool that the client has for them. The last update of a task counts."""

from typing import Any

from holdfast.record.model import Place, Record, Task
from holdfast.record.plan_steps import evidence, labels
from holdfast.text.sentences import clip

MOST_TASKS = 300
LONGEST = 300
LISTED = ("task", "todo")


def todo(record: Record, given: dict[str, Any], place: Place) -> None:
    """Replace the list: TodoWrite always sends the whole list."""
    items = given.get("todos")
    if not isinstance(items, list):
        return
    before = {key: task for key, task in record.tasks.items() if task.source == "todo"}
    for key in before:
        del record.tasks[key]
    for item in items[:MOST_TASKS]:
        if isinstance(item, dict) and isinstance(words := item.get("content"), str) and words:
            status = item.get("status")
            status = status if isinstance(status, str) else "pending"
            key = f"todo {clip(words, LONGEST)}"
            since = before[key].place if key in before else place
            task = record.tasks[key] = Task(clip(words, LONGEST), since, source="todo")
            _set(task, status, "TodoWrite", place)


def _set(task: Task, status: str, tool: str, place: Place) -> None:
    """Set the status. The place of a task stays where it was first listed: it has been open since
    then."""
    was_open, task.status = task.is_open, status[:80]
    if task.is_open:
        task.closed_by = ""
    elif was_open:
        task.closed_by = f"{_at(tool, place.op)}{task.status}"


def _at(tool: str, op: int) -> str:
    return f"{tool} at step {op}: "


def settle(record: Record, tool: str) -> None:
    """Close the steps of a plan that the list has just completed, whatever else is on the list. If
    all of the list is completed, the plan that it was made for is too."""
    steps = [one for one in record.tasks.values() if evidence.is_step(one)]
    if not steps:
        return
    listed = [one for one in record.tasks.values() if one.source in LISTED]
    now = [one for one in listed if one.closed_by == f"{_at(tool, record.op)}completed"]
    is_all = bool(now) and all(one.status == "completed" for one in listed)
    begun = min((one.place.op for one in listed), default=0)
    planned = max((one.place.op for one in steps if one.place.op <= begun), default=-1)
    for step in steps:
        by = next((one for one in now if labels.is_same(one.text, step.text)), None)
        if by is not None:
            step.status, step.closed_by = "completed", by.closed_by
        elif is_all and step.place.op == planned:
            told = f"{_at(tool, record.op)}all {len(listed)} tasks completed"
            step.status, step.closed_by = "completed", told


def add_task(record: Record, subject: str, answer: str, place: Place) -> None:
    """Add a new task; its number is in the tool's answer."""
    number = answer.partition("#")[2][:6].partition(" ")[0].rstrip(".:")
    key = number if number.isdigit() else str(len(record.tasks) + 1)
    record.tasks[f"task {key}"] = Task(clip(subject, LONGEST), place)
    while len(record.tasks) > MOST_TASKS:
        closed = (key for key, task in record.tasks.items() if not task.is_open)
        del record.tasks[next(closed, next(iter(record.tasks)))]


def update_task(record: Record, given: dict[str, Any], place: Place) -> str:
    """Update a task; return its key, or an empty text if it is not known."""
    key = f"task {given.get('taskId')}"[:80]
    task = record.tasks.get(key)
    if task is None:
        return ""
    if isinstance(subject := given.get("subject"), str) and subject:
        task.text = clip(subject, LONGEST)
    if isinstance(status := given.get("status"), str) and status:
        _set(task, status, "TaskUpdate", place)
    return key
