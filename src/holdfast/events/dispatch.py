"""The module for each event. The hook calls it, and its result goes to Claude Code unchanged."""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.settings import secret_patterns

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

# Seconds after which a hook reads no further in a transcript: less than half of what the client
# gives it, because there is other work to do.
READING_SECONDS = {
    "SessionStart": 4.5,
    "UserPromptSubmit": 2.25,
    "PostToolUse": 4.5,
    "PostToolUseFailure": 4.5,
    "Stop": 2.25,
    "PreCompact": 13.5,
    "PostCompact": 4.5,
    "SessionEnd": 2.25,
}


def tell(moment: Moment) -> str:
    """What to print for an event; empty for an unknown one. Only its own module is imported."""
    story = STORIES.get(moment.line.event)
    if story is None:
        return ""
    return _tell(story, moment)


def tell_second(moment: Moment) -> str:
    """What the second hook of a compaction prints."""
    return _tell("second_half", moment) if moment.line.event == "SessionStart" else ""


def _tell(story: str, moment: Moment) -> str:
    secret_patterns.use()
    moment.deadline = time.monotonic() + READING_SECONDS[moment.line.event]
    text: str = import_module(f"holdfast.events.{story}").tell(moment)
    return text
