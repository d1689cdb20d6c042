"""A call that failed, or that the user refused, did nothing: what was noted of it is undone."""

from typing import Any

from holdfast.record import files
from holdfast.record.model import Call, Record

EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


def before(record: Record, tool: str, given: dict[str, Any]) -> list[str]:
    """What a call is about to change, as it is now."""
    if tool in EDITS:
        used = record.files.get(files.relative(record, files.told(given).strip()))
        return list(used.left) if used else []
    if tool == "TaskUpdate":
        task = record.tasks.get(f"task {given.get('taskId')}"[:80])
        return [task.text, task.status, task.closed_by] if task else []
    if tool == "Bash":
        return files.written(record, files.text_of(given, "command"))
    return []


def undo(record: Record, call: Call) -> None:
    if call.tool in EDITS:
        _edit(record, call)
    elif call.tool == "TaskUpdate" and call.before and call.what in record.tasks:
        task = record.tasks[call.what]
        task.text, task.status, task.closed_by = call.before
    elif call.tool == "ExitPlanMode":
        for key, task in list(record.tasks.items()):
            if task.source == "plan" and task.place == call.place:
                del record.tasks[key]


def _edit(record: Record, call: Call) -> None:
    used = record.files.get(call.what)
    if used is None:
        return
    used.edits, used.left = max(0, used.edits - 1), call.before
    if used.edits:
        return
    for failure in record.failures:
        failure.edited = [name for name in failure.edited if name != call.what]
    if not used.count:
        del record.files[call.what]
        record.restored.pop(call.what, None)
        record.dependencies.pop(call.what, None)


def command(record: Record, key: str) -> None:
    """The user would not have it run; before, it may have been."""
    if (known := record.commands.get(key)) and known.count == 1:
        del record.commands[key]


def question(record: Record, call: Call) -> None:
    """The tool did not take it, so nobody was asked."""
    for turn in record.turns[-1:]:
        turn.questions = [one for one in turn.questions if one.place != call.place]
