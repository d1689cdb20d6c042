"""The story of each event, which Claude Code gets unchanged, and what all record of a session."""

import os
import time
from importlib import import_module
from typing import Any, NamedTuple

from holdfast.client import limit_settings
from holdfast.hook.observation import Moment
from holdfast.settings import use_secret_patterns
from holdfast.window.state import State
from holdfast.wire import scan
from holdfast.wire.log import inert


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


MOST_NAME, MOST_PATH = 200, 4096
TIMES = ("checkpoint_ms", "monitor_ms", "rolled_ms", "compacting_ms", "started_ms", "switches_ms")
MOST_DISORDER_MS = 60_000  # an end that is farther ahead was recorded by a clock that was


def record_session(state: State, moment: Moment) -> None:
    """What every hook records of its session, so that commands see the same compaction limit."""
    payload, seen = moment.payload, moment.tail
    state.session_id = _name(payload, "session_id") or state.session_id
    state.agent_id = _name(payload, "agent_id")
    state.agent_type = _name(payload, "agent_type") or state.agent_type
    state.transcript = moment.transcript[:MOST_PATH] or state.transcript
    state.cwd = scan.text_of(payload, "cwd")[:MOST_PATH].replace("\0", "") or state.cwd
    state.project = os.environ.get("CLAUDE_PROJECT_DIR") or state.project or state.cwd
    state.model = inert(seen.model, MOST_NAME) or _name(payload, "model") or state.model
    state.client_version = inert(seen.version, MOST_NAME) or state.client_version
    _correct_times(state, moment.now_ms)
    if not 0 <= state.ended_ms - moment.now_ms <= MOST_DISORDER_MS:
        state.ended_ms = 0  # it was resumed; the hook of its start may have been killed
    state.at_ms = moment.now_ms
    state.started_ms = state.started_ms or moment.now_ms
    command_line = limit_settings.command_line_of(os.environ.get("CLAUDE_PID", ""))
    agent_type = state.agent_type if state.agent_id else ""
    turned = limit_settings.read(
        state.project, os.environ, command_line, agent_type, state.transcript
    ).as_json()
    if turned != state.switches or not state.switches_ms:
        state.switches, state.switches_ms = turned, moment.now_ms


def _correct_times(state: State, now_ms: int) -> None:
    """Correct times in the future, which come from before the clock was set back."""
    for name in TIMES:
        setattr(state, name, min(getattr(state, name), now_ms))


def _name(payload: dict[str, Any], key: str) -> str:
    return inert(scan.text_of(payload, key), MOST_NAME)


def log_name(state: State) -> str:
    """The short name of a window in the log."""
    agent = f"/{state.agent_id[:8]}" if state.agent_id else ""
    return (state.session_id[:8] or "unknown") + agent
