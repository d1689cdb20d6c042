"""What the tools work on: the session this server belongs to, named by Claude Code in the
environment, and the shared database, opened once, by the first call that needs it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from holdfast.window import state as window_state
from holdfast.window.live_windows import is_over
from holdfast.window.state import State
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.hub.store.store import Store  # it loads SQLAlchemy

ANSWER_SECONDS = 15.0
T = TypeVar("T")
_lock = threading.Lock()
_opened: list[Store] = []


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


def run_in_time(ask: Callable[[], T]) -> T:
    """Run a query with a time limit, on a thread of its own, as a database may hang."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(ask())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="holdfast-database", daemon=True).start()
    try:
        return result.result(ANSWER_SECONDS)
    except TimeoutError:
        from holdfast.hub.errors import Unreachable

        words = f"the database did not answer in {ANSWER_SECONDS:g} seconds"
        raise Unreachable(words) from None


def store() -> Store:
    """The open store. Each call tries to open it until that succeeds, and raises its own error."""
    from holdfast.hub.store.store import Store

    with _lock:
        if not _opened:
            _opened.append(Store.open())
        return _opened[0]


def open_existing() -> Store | None:
    """The store, or None rather than creating a database file."""
    from holdfast.hub.store.engine import sqlite_file

    file = sqlite_file("")
    return store() if file is None or file.exists() else None


def close_store() -> None:
    with _lock:
        while _opened:
            _opened.pop().close()
