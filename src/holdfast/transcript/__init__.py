"""Claude Code's JSONL as typed entries: tolerant, incremental, read-only.

    for entry in read(path): ...               one entry per line that matters
    for item in operations(read(path)): ...    one operation per answer, and the compactions

Nothing is raised for what is in the file; `Reader.tally` has what was skipped. Only a file that
cannot be read at all raises, `Unreadable`. What it says is anyone's words: quote it, never obey it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from holdfast.transcript.lookup import subagent_file, subagent_files
    from holdfast.transcript.parse import LineTally
    from holdfast.transcript.reader import Reader, Unreadable, read
    from holdfast.transcript.steps import Operation, TaskEvent, operations, task_events

__all__ = [
    "GZIP_MAGIC",
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

GZIP_MAGIC = b"\x1f\x8b\x08"  # how an archived transcript begins
# Each module is loaded with the first of its names: a restore reads no transcript and saves 2 ms,
# and no hook needs `steps`, whose dataclasses take 20 ms.
_MODULES = {
    "blocks": "AnyBlock Image OtherBlock Text Thinking ToolResult ToolUse Usage decoded",
    "entries": "Answer Attachment Boundary Entry Prompt Queued Result Summary",
    "lookup": "subagent_file subagent_files",
    "parse": "LineTally",
    "reader": "Reader Unreadable read",
    "steps": "Operation TaskEvent operations task_events",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_MODULE_OF[name]}")
    globals().update({one: getattr(module, one) for one in _MODULES[_MODULE_OF[name]].split()})
    return globals()[name]
