"""Claude Code's JSONL as typed entries: tolerant, incremental, read-only.

    for entry in read(path): ...               one entry per line that matters
    for item in operations(read(path)): ...    one operation per answer, and the compactions

Nothing is raised for what is in the file; `Reader.tally` has what was skipped. Only a file that
cannot be read at all raises, `Unreadable`. What it says is anyone's words: quote it, never obey it.
"""

from typing import TYPE_CHECKING

from holdfast.transcript.blocks import (
    AnyBlock,
    Image,
    OtherBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
    decoded,
)
from holdfast.transcript.entries import (
    Answer,
    Attachment,
    Boundary,
    Entry,
    Prompt,
    Queued,
    Result,
    Summary,
)
from holdfast.transcript.parse import LineTally
from holdfast.transcript.reader import Reader, Unreadable, read

if TYPE_CHECKING:
    from holdfast.transcript.steps import Operation, TaskEvent, operations, task_events
    from holdfast.transcript.subagents import subagent_file, subagent_files

__all__ = [
    "Answer",
    "AnyBlock",
    "Attachment",
    "Boundary",
    "Entry",
    "Image",
    "LineTally",
    "Operation",
    "OtherBlock",
    "Prompt",
    "Queued",
    "Reader",
    "Result",
    "Summary",
    "TaskEvent",
    "Text",
    "Thinking",
    "ToolResult",
    "ToolUse",
    "Unreadable",
    "Usage",
    "decoded",
    "operations",
    "read",
    "subagent_file",
    "subagent_files",
    "task_events",
]

_LATER = {  # hooks need none of these, and dataclasses and pathlib cost them 30 ms
    "Operation": "steps",
    "TaskEvent": "steps",
    "operations": "steps",
    "subagent_file": "subagents",
    "subagent_files": "subagents",
    "task_events": "steps",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found
