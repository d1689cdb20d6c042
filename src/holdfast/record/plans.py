"""The task list and the newest plan as tools last set them.

A plan is what the model showed to the user, wrote into the client's folder of plans, or was told to
carry out. It is quoted, with the turn it is from; nothing here tells how much of it is done.
"""

from typing import Any

from holdfast.record.model import Place, Record, ShownPlan, Task
from holdfast.text.sentences import clip, clip_start

PROMPTED = "Implement the following plan:"  # the client's words, before an approved plan
PLAN_CHARS = 4000
MOST_TASKS = 300
TASK_CHARS = 300
LINE_END = "\n"
_CLIENTS = ".claude/plans/"  # the client's own folder


def set_plan(record: Record, text: str, place: Place) -> None:
    """Save the newest plan, of a long one the first and last lines; a refusal removes it again."""
    if words := text.removeprefix(PROMPTED).strip():
        half = PLAN_CHARS // 2
        cut = f"{clip(words, half).rpartition(LINE_END)[0]}\n[…]\n{clip_start(words, half)}"
        record.plan = ShownPlan(cut if len(words) > PLAN_CHARS else words, place)


def set_plan_file(record: Record, name: str, text: str, place: Place) -> None:
    if _CLIENTS in name:
        set_plan(record, text, place)


def remove_plan(record: Record, place: Place) -> None:
    if record.plan and record.plan.place == place:
        record.plan = None


def todo(record: Record, fields: dict[str, Any], place: Place) -> None:
    """Replace the list: TodoWrite always sends the whole list."""
    items = fields.get("todos")
    if not isinstance(items, list):
        return
    before = {key: task for key, task in record.tasks.items() if task.source == "todo"}
    for key in before:
        del record.tasks[key]
    for item in items[:MOST_TASKS]:
        if isinstance(item, dict) and isinstance(words := item.get("content"), str) and words:
            status = item.get("status")
            status = status if isinstance(status, str) else "pending"
            key = f"todo {clip(words, TASK_CHARS)}"
            known = before.get(key) or Task(clip(words, TASK_CHARS), place, "", "todo")
            task = record.tasks[key] = known
            _set(task, status, place)


def _set(task: Task, status: str, place: Place) -> None:
    """Set the status. The place of a task stays where it was first listed."""
    if task.status != status[:80]:
        task.status, task.set_at = status[:80], place


def add_task(record: Record, subject: str, answer: str, place: Place) -> None:
    number = answer.partition("#")[2][:6].partition(" ")[0].rstrip(".:")
    key = number if number.isdigit() else str(len(record.tasks) + 1)
    record.tasks[f"task {key}"] = Task(clip(subject, TASK_CHARS), place, set_at=place)
    while len(record.tasks) > MOST_TASKS:
        closed = (key for key, task in record.tasks.items() if not task.is_open)
        del record.tasks[next(closed, next(iter(record.tasks)))]


def update_task(record: Record, fields: dict[str, Any], place: Place) -> str:
    key = f"task {fields.get('taskId')}"[:80]
    task = record.tasks.get(key)
    if task is None:
        return ""
    if isinstance(subject := fields.get("subject"), str) and subject:
        task.text = clip(subject, TASK_CHARS)
    if isinstance(status := fields.get("status"), str) and status:
        _set(task, status, place)
    return key
