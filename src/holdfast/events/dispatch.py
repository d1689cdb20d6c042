"""The module for each event. The hook calls it, and its result goes to Claude Code unchanged."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.hook.observation import Moment

STORIES = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "after_tool",
    "Stop": "stop",
    "PreCompact": "before_compact",
    "PostCompact": "after_compact",
    "SessionEnd": "session_end",
}


def tell(moment: Moment) -> str:
    """What to print for an event; empty for an unknown one. Only its own module is imported."""
    story = STORIES.get(moment.line.event)
    if story is None:
        return ""
    text: str = import_module(f"holdfast.events.{story}").tell(moment)
    return text
