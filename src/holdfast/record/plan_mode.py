"""Whether the session is in plan mode, where the model may read and plan and nothing else.

Told by prompts, by the client's own notes, and by the tools that enter and leave it. Somebody may
also leave it by a key, which no line tells: an edit that succeeded shows that it was left.
"""

from holdfast.record.model import Record

_NOTES = {"plan_mode": True, "plan_mode_reentry": True, "plan_mode_exit": False}
_TOOLS = {"EnterPlanMode": True, "ExitPlanMode": False}
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_PLANS = ".claude/plans/"  # the plan itself may be written


def typed(record: Record, mode: str | None) -> None:
    """The mode a prompt was typed in; not every client says."""
    if mode:
        record.planning = mode == "plan"


def told(record: Record, kind: str) -> None:
    """The client's note to the model."""
    record.planning = _NOTES.get(kind, record.planning)


def done(record: Record, tool: str, what: str) -> None:
    """A call succeeded: a plan was approved, or a file was changed."""
    if tool in _EDITS:
        record.planning = record.planning and _PLANS in what
    else:
        record.planning = _TOOLS.get(tool, record.planning)
