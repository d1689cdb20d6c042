"""Which story an event tells. Woken by the hook; what is returned goes to the client as it is."""

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
    """An event we were not asked to wait for says nothing; no event pays for another's imports."""
    story = STORIES.get(moment.line.event)
    if story is None:
        return ""
    said: str = import_module(f"holdfast.events.{story}").tell(moment)
    return said
