"""Task lists, by whichever tools the client has for them; the last word on each task counts."""

from typing import Any

from holdfast.checkpoint.facts import Facts, Place, Task

MOST_TASKS = 300
LONGEST = 300


def todo(facts: Facts, given: dict[str, Any], place: Place) -> None:
    """TodoWrite tells the whole list anew."""
    items = given.get("todos")
    if not isinstance(items, list):
        return
    for key in [key for key, task in facts.tasks.items() if task.source == "todo"]:
        del facts.tasks[key]
    for item in items[:MOST_TASKS]:
        if isinstance(item, dict) and isinstance(words := item.get("content"), str) and words:
            status = item.get("status")
            status = status if isinstance(status, str) else "pending"
            facts.tasks[f"todo {words[:LONGEST]}"] = Task(words[:LONGEST], place, status, "todo")


def created(facts: Facts, subject: str, answer: str, place: Place) -> None:
    """A task was made; its number stands in the answer."""
    number = answer.partition("#")[2][:6].partition(" ")[0].rstrip(".:")
    key = number if number.isdigit() else str(len(facts.tasks) + 1)
    facts.tasks[f"task {key}"] = Task(subject[:LONGEST], place)
    while len(facts.tasks) > MOST_TASKS:
        closed = (key for key, task in facts.tasks.items() if not task.is_open)
        del facts.tasks[next(closed, next(iter(facts.tasks)))]


def updated(facts: Facts, given: dict[str, Any], place: Place) -> str:
    """A task changed, it is said; gives what is known of it by."""
    key = f"task {given.get('taskId')}"[:80]
    task = facts.tasks.get(key)
    if task is None:
        return ""
    if isinstance(subject := given.get("subject"), str) and subject:
        task.text = subject[:LONGEST]
    if isinstance(status := given.get("status"), str) and status:
        task.status = status[:80]
    task.place = place
    return key
