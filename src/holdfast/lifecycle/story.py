"""Which story an event tells. Woken by the hook; what is returned goes to the client as it is."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.hook.entry import Moment
from holdfast.lifecycle import (
    after_compact,
    after_tool,
    before_compact,
    prompt,
    session_end,
    session_start,
    stop,
)

STORIES: dict[str, Callable[[Moment], str]] = {
    "SessionStart": session_start.tell,
    "UserPromptSubmit": prompt.tell,
    "PostToolUse": after_tool.tell,
    "PostToolUseFailure": after_tool.tell,
    "Stop": stop.tell,
    "PreCompact": before_compact.tell,
    "PostCompact": after_compact.tell,
    "SessionEnd": session_end.tell,
}


def tell(moment: Moment) -> str:
    """An event we were not asked to wait for says nothing."""
    story = STORIES.get(moment.line.event)
    return story(moment) if story else ""
