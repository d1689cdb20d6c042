"""What an answer says about the task list, whichever tools its client has for it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Answer

if TYPE_CHECKING:
    from holdfast.transcript.step import Operation

# TodoWrite rewrites the whole list, on clients before TaskCreate and TaskUpdate came.
TASK_TOOLS = frozenset({"TaskCreate", "TaskUpdate", "TodoWrite"})


class TaskEvent(NamedTuple):
    """One call that changes the task list."""

    tool_use_id: str
    name: str
    input: dict[str, Any]


def task_events(answer: "Answer | Operation") -> Iterator[TaskEvent]:
    """The task calls of one answer, in order."""
    for block in answer.blocks:
        if isinstance(block, ToolUse) and block.name in TASK_TOOLS:
            yield TaskEvent(block.id, block.name, block.input)
