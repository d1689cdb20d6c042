"""The session this server belongs to. Claude Code names it and its project in the environment."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.window import state as window_state
from holdfast.window.state import State
from holdfast.window.windows import is_over
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError


class UnknownSession(HoldfastError):
    hint = "are the hooks installed? `holdfast doctor`"


def project() -> str:
    return os.environ.get("CLAUDE_PROJECT_DIR") or str(Path.cwd())


def session_id() -> str:
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def window() -> tuple[str, State]:
    """The current window, as hooks recorded it. After /clear the environment still names the old
    session; then the newest window of this project is returned."""
    folder = places.window(session_id())
    state = window_state.load(folder) if session_id() else State()
    if state.session_id and not is_over(folder, state):
        return folder, state
    for other, found in window_state.all_windows():
        is_ours = found.was_live and not found.agent_id and found.project == project()
        if is_ours and not is_over(other, found):
            return other, found
    if not state.session_id:
        raise UnknownSession("no hook has reported this session yet")
    return folder, state
