"""Task lists, by whichever tools the client has: each item is a task of the request it came in."""

from __future__ import annotations

from typing import Any

from holdfast.hub import derived_ids
from holdfast.hub.ingest.readers.clean_text import clean
from holdfast.hub.ingest.readers.read_position import OpenCall, ReadPosition
from holdfast.hub.ingest.readers.window import WindowReader
from holdfast.hub.ingest.records import TEXT_CHARS, Deed, TaskTold

TOOLS = frozenset(("TaskCreate", "TaskUpdate", "TodoWrite"))
MOST_ITEMS = 100
ITEM_CHARS = TEXT_CHARS // 4
_STATUS = {"pending": "pending", "in_progress": "running", "completed": "completed"}
_UPDATES = {**_STATUS, "deleted": "deleted"}


def remembered(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the call asks for; it is true once the client has said yes."""
    if tool == "TodoWrite":
        items = given.get("todos")
        items = items if isinstance(items, list) else []
        return {"todos": [pair for pair in map(_todo, items[:MOST_ITEMS]) if pair[0]]}
    told = {"name": _words(given, "subject") or _words(given, "description")}
    if tool == "TaskCreate":
        return told
    status = given.get("status")
    return {
        "name": _words(given, "subject"),
        "key": str(given.get("taskId"))[:40],
        "status": _UPDATES.get(status, "") if isinstance(status, str) else "",
    }


def changed(
    window: WindowReader, reached: ReadPosition, call: OpenCall, answer: str, at_ms: int
) -> list[Deed]:
    if not reached.request:
        return []
    if call.tool == "TodoWrite":
        return _rewritten(window, reached, call.told.get("todos", []), at_ms)
    if call.tool == "TaskCreate":
        return _created(window, reached, call, answer, at_ms)
    return _updated(window, reached, call, at_ms)


def _created(
    window: WindowReader, reached: ReadPosition, call: OpenCall, answer: str, at_ms: int
) -> list[Deed]:
    """Its number stands in the answer: `Task #3 created successfully: …`."""
    reached.waves += 1
    number = answer.partition("#")[2][:6].partition(" ")[0].rstrip(".:")
    key = f"number {number}" if number.isdecimal() else f"{reached.request} {reached.waves}"
    return [
        TaskTold(
            id=derived_ids.task_id(window.session_id, key),
            at_ms=at_ms,
            status="pending",
            request_id=reached.request,
            name=call.told.get("name") or f"Task {number or reached.waves}",
            wave_number=reached.waves,
        )
    ]


def _updated(window: WindowReader, reached: ReadPosition, call: OpenCall, at_ms: int) -> list[Deed]:
    told = call.told
    task_id = derived_ids.task_id(window.session_id, f"number {told.get('key')}")
    status = told.get("status", "")
    _follow(reached, task_id, status)
    return [TaskTold(id=task_id, at_ms=at_ms, status=status, name=told.get("name", ""))]


def _rewritten(
    window: WindowReader, reached: ReadPosition, items: list[Any], at_ms: int
) -> list[Deed]:
    """TodoWrite tells the whole list anew; an item is known by its words."""
    deeds: list[Deed] = []
    for number, (words, status) in enumerate(items, 1):
        task_id = derived_ids.task_id(window.session_id, f"todo {words}")
        _follow(reached, task_id, status)
        deeds.append(
            TaskTold(
                id=task_id,
                at_ms=at_ms,
                status=status,
                request_id=reached.request,
                name=words,
                wave_number=number,
            )
        )
    return deeds


def _follow(reached: ReadPosition, task_id: str, status: str) -> None:
    """Subagents belong to the task that is under way."""
    if status == "running":
        reached.task = task_id
    elif status and reached.task == task_id:
        reached.task = ""


def _todo(item: Any) -> tuple[str, str]:
    if not isinstance(item, dict):
        return "", ""
    status = item.get("status")
    known = _STATUS.get(status, "pending") if isinstance(status, str) else "pending"
    return _words(item, "content"), known


def _words(given: dict[str, Any], key: str) -> str:
    found = given.get(key)
    if not isinstance(found, str):
        return ""
    return clean(" ".join(found[: 4 * ITEM_CHARS].split()), ITEM_CHARS)
