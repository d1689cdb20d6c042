"""A call that failed, or that the user refused, did nothing: what was noted of it is undone."""

from typing import Any

from holdfast.checkpoint.extract import paths
from holdfast.checkpoint.facts import Call, Facts

EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


def before(facts: Facts, tool: str, given: dict[str, Any]) -> list[str]:
    """What a call is about to change, as it is now."""
    if tool in EDITS:
        used = facts.files.get(paths.relative(facts, paths.told(given).strip()))
        return list(used.left) if used else []
    if tool == "TaskUpdate":
        task = facts.tasks.get(f"task {given.get('taskId')}"[:80])
        return [task.text, task.status] if task else []
    return []


def undo(facts: Facts, call: Call) -> None:
    if call.tool in EDITS:
        _edit(facts, call)
    elif call.tool == "TaskUpdate" and call.before and call.what in facts.tasks:
        task = facts.tasks[call.what]
        task.text, task.status = call.before
    elif call.tool == "ExitPlanMode":
        for key, task in list(facts.tasks.items()):
            if task.source == "plan" and task.place == call.place:
                del facts.tasks[key]


def _edit(facts: Facts, call: Call) -> None:
    used = facts.files.get(call.what)
    if used is None:
        return
    used.edits, used.left = max(0, used.edits - 1), call.before
    if used.edits:
        return
    for failure in facts.failures:
        failure.edited = [name for name in failure.edited if name != call.what]
    if not used.count:
        del facts.files[call.what]
        facts.restored.pop(call.what, None)
        facts.dependencies.pop(call.what, None)


def command(facts: Facts, key: str) -> None:
    """The user would not have it run; before, it may have been."""
    if (known := facts.commands.get(key)) and known.count == 1:
        del facts.commands[key]
