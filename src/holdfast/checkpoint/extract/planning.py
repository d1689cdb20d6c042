"""Whether the session is in plan mode, where the model may read and plan and nothing else.

Told by prompts, by the client's own notes, and by the tools that enter and leave it. Somebody may
also leave it by a key, which no line tells: an edit that succeeded shows that it was left.
"""

from holdfast.checkpoint.facts import Facts

_NOTES = {"plan_mode": True, "plan_mode_reentry": True, "plan_mode_exit": False}
_TOOLS = {"EnterPlanMode": True, "ExitPlanMode": False}
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_PLANS = ".claude/plans/"  # the plan itself may be written


def typed(facts: Facts, mode: str | None) -> None:
    """The mode a prompt was typed in; not every client says."""
    if mode:
        facts.planning = mode == "plan"


def told(facts: Facts, kind: str) -> None:
    """The client's note to the model."""
    facts.planning = _NOTES.get(kind, facts.planning)


def done(facts: Facts, tool: str, what: str) -> None:
    """A call succeeded: a plan was approved, or a file was changed."""
    if tool in _EDITS:
        facts.planning = facts.planning and _PLANS in what
    else:
        facts.planning = _TOOLS.get(tool, facts.planning)
