"""Task lists, from any tool that the client has for them. The last update of a task counts."""

from typing import Any

from holdfast.record.model import Place, Record, Task
from holdfast.text.sentences import clip

MOST_TASKS = 300
LONGEST = 300


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
            known = before.get(key) or Task(clip(words, LONGEST), place, "", "todo")
            task = record.tasks[key] = known
            _set(task, status, place)


def _set(task: Task, status: str, place: Place) -> None:
    """Set the status. The place of a task stays where it was first listed."""
    if task.status != status[:80]:
        task.status, task.set_at = status[:80], place


def add_task(record: Record, subject: str, answer: str, place: Place) -> None:
    """Add a new task; its number is in the tool's answer."""
    number = answer.partition("#")[2][:6].partition(" ")[0].rstrip(".:")
    key = number if number.isdigit() else str(len(record.tasks) + 1)
    record.tasks[f"task {key}"] = Task(clip(subject, LONGEST), place, set_at=place)
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
        _set(task, status, place)
    return key
