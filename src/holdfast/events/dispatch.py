"""The story of each event. The hook calls it, and its result goes to Claude Code unchanged."""

import time
from importlib import import_module
from typing import NamedTuple

from holdfast.hook.observation import Moment
from holdfast.settings import use_secret_patterns


class Story(NamedTuple):
    """`reading_seconds`: it reads no longer than this, less than half of what the client gives."""

    module: str
    function: str = "tell"
    reading_seconds: float = 4.5


STORIES = {
    "SessionStart": Story("session_start"),
    "UserPromptSubmit": Story("turn", "tell_prompt", 2.25),
    "PostToolUse": Story("turn", "tell_call"),
    "PostToolUseFailure": Story("turn", "tell_call"),
    "Stop": Story("turn", "tell_stop", 2.25),
    "PreCompact": Story("before_compact", reading_seconds=13.5),
    "PostCompact": Story("after_compact"),
    "SessionEnd": Story("session_end", reading_seconds=2.25),
}
SECOND = Story("session_start", "tell_second")


def tell(moment: Moment) -> str:
    """What to print for an event; empty for an unknown one. Only its own module is imported."""
    story = STORIES.get(moment.line.event)
    return _tell(story, moment) if story else ""


def tell_second(moment: Moment) -> str:
    return _tell(SECOND, moment) if moment.line.event == "SessionStart" else ""


def _tell(story: Story, moment: Moment) -> str:
    use_secret_patterns()
    moment.deadline = time.monotonic() + story.reading_seconds
    module = import_module(f"holdfast.events.{story.module}")
    text: str = getattr(module, story.function)(moment)
    return text
