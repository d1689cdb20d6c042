"""The state of one window between two hooks: its measurements, and what was already said.

One `state.json` per window, replaced atomically, changed only under the window's lock. It is an
index: if it is lost or damaged it starts empty, and the next hook fills it again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.files import lock
from holdfast.wire import log, places

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
PATIENCE_SECONDS = 2.0
MOST = 1 << 53
COMPACTING_MS = 10 * 60_000  # a compaction that takes longer never came


class State:
    """Fields by keyword, each with a default. No dataclass: that import takes 20 ms of a hook."""

    version: int = VERSION
    session_id: str = ""
    agent_id: str = ""
    agent_type: str = ""
    transcript: str = ""
    cwd: str = ""
    project: str = ""
    model: str = ""
    client_version: str = ""
    switches: dict[str, Any] = {}  # noqa: RUF012 (every state gets its own, below)
    switches_ms: int = 0  # since when hooks have seen these settings; 0: none has
    stated_window: int = 0
    window_tokens: int = 0
    edge_tokens: int = 0
    edge_kind: str = ""
    edge_source: str = ""
    density: float = 0.0
    overhead_tokens: int = 0
    used_tokens: int = 0
    basis: str = "none"
    estimated: bool = True
    at_ms: int = 0
    velocity: float = 0.0  # tokens per step at the last look; 0: unknown
    growth: float = 0.0  # the same over a longer time, for the range of steps left
    pace_ms: float = 0.0
    zone: int = 0
    zone_ratio: float = 0.0  # how full it was when the zone was entered
    alert: int = 0
    alert_ratio: float = 0.0
    checkpoint_ms: int = 0  # when one was last taken, also if nothing had changed since the last
    checkpoint_saved_ms: int = 0  # when the file in `checkpoint_path` was saved
    checkpoint_trigger: str = ""
    checkpoint_path: str = ""
    checkpoint_removed: str = ""  # the path of a checkpoint whose file is gone, until the next one
    added: str = ""  # by the model, to its checkpoints: `checkpoint.additions`
    checkpoint_tokens: int = 0  # how full it was then, or when it was last freed since
    stop_guard: int = 0  # 1 on; 2 on, 3 off by a variable that only this session's hooks see
    team: int = 0  # 1: a team server is configured
    second_brief: str = ""  # what the client's summary left out, until a hook can tell the model
    monitor_ms: int = 0
    rolled_ms: int = 0  # when cold segments were last looked for
    owed: str = ""  # what the user has not been told yet
    restored: dict[str, int] = {}  # noqa: RUF012 (how much, until the next prompt; see `printed_brief`)
    compacting_ms: int = 0
    compacting_answer: str = ""
    compactions: int = 0
    crowded: str = ""  # the alarm of a window that was compacted twice in a row, until it is said
    crowded_at: int = 0  # the number of the last compaction that followed another directly
    started_ms: int = 0
    ended_ms: int = 0
    watched_ms: int = 0  # last change seen by the watcher; only in windows without hooks

    def __init__(self, **given: Any) -> None:
        unknown = given.keys() - FIELDS
        if unknown:
            raise TypeError(f"a state has no {', '.join(sorted(unknown))}")
        self.switches, self.restored = {}, {}
        self.__dict__.update(given)

    @property
    def known_ms(self) -> int:
        """When a hook or the watcher last saw activity."""
        return max(self.at_ms, self.watched_ms)

    @property
    def was_live(self) -> bool:
        """Whether a hook or the watcher has seen the session run. A window without either was made
        by a command, for a transcript that may be years old."""
        return bool(self.started_ms or self.watched_ms)

    @property
    def saved_ms(self) -> int:
        """When the last checkpoint was saved; states of 0.1 know only when it was taken."""
        return self.checkpoint_saved_ms or self.checkpoint_ms

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIELDS}


FIELDS = dict.fromkeys(State.__annotations__).keys()


class WindowBusy(Exception):
    """Another hook of the same window holds the lock; that one will judge."""


def load(folder: str) -> State:
    """The saved state. An unreadable file counts as empty and is logged."""
    data = places.read_small(f"{folder}/state.json", 1 << 20)
    if not data:
        return State()
    try:
        value = json.loads(data)
        if not isinstance(value, dict) or value.get("version") != VERSION:
            raise ValueError(f"not a state of version {VERSION}")
        return _from_json(value)
    except (ValueError, RecursionError) as error:
        log.add("WARN", "state", f"{folder}: starts empty: {error}")
        return State()


def _from_json(value: dict[str, Any]) -> State:
    blank = State()
    good: dict[str, Any] = {}
    for name in FIELDS:
        given = value.get(name)
        if _fits(given, type(getattr(blank, name))):
            good[name] = given
    state = State(**good)
    state.zone, state.alert = min(state.zone, 3), min(state.alert, 4)
    if not 0.5 <= state.density <= 20:
        state.density = 0.0
    if state.checkpoint_path and not os.path.lexists(state.checkpoint_path):
        state.checkpoint_removed, state.checkpoint_path = state.checkpoint_path, ""
        state.checkpoint_ms = state.checkpoint_saved_ms = state.checkpoint_tokens = 0
        state.checkpoint_trigger = ""
    return state


def _fits(given: Any, wanted: type) -> bool:
    if wanted is float:
        return type(given) in (int, float) and 0 <= given < MOST  # NaN compares false
    if wanted is int:
        return type(given) is int and 0 <= given < MOST
    return type(given) is wanted


def save(folder: str, state: State) -> None:
    """Replace the state atomically: a reader never sees half of it."""
    # One field a line, and not by `indent`: with that Python's own encoder does it, and not C's.
    data = json.dumps(state.as_dict(), ensure_ascii=True, separators=(",\n ", ": ")).encode()
    places.replace_whole(f"{folder}/state.json", data)


@contextmanager
def lock_state(folder: str) -> Iterator[State]:
    """Load the state, let the caller change it, and save it; one process at a time."""
    fd = _take_lock(folder)
    try:
        state = load(folder)
        yield state
        save(folder, state)
    finally:
        os.close(fd)


@contextmanager
def lock_state_if_possible(folder: str) -> Iterator[State]:
    """As `lock_state`, for work that must be done anyway. If another hook holds the lock, or the
    folder cannot be written, the caller gets the saved state and its changes are not saved."""
    fd = -1
    try:
        fd = _take_lock(folder)
    except (WindowBusy, OSError) as error:
        log.add("WARN", "state", f"{folder}: continues without its lock: {error}")
    try:
        state = load(folder)
        yield state
        if fd >= 0:
            try:
                save(folder, state)
            except OSError as error:
                log.add("WARN", "state", f"{folder}: not saved: {error}")
    finally:
        if fd >= 0:
            os.close(fd)


def _take_lock(folder: str) -> int:
    """Take the window's lock. Anything but a plain file in its place is an error, never a wait."""
    fd = lock.open_file(f"{folder}/lock")
    if not lock.acquire(fd, PATIENCE_SECONDS):
        os.close(fd)
        raise WindowBusy("another hook holds it")
    return fd


def all_windows(since_ms: int = 0) -> list[tuple[str, State]]:
    """Every window with a state and a hook since `since_ms`, newest first."""
    from pathlib import Path

    found = Path(places.windows()).glob("*/*/state.json")
    new = [str(path.parent) for path in found if not since_ms or _changed_ms(path) >= since_ms]
    states = [(folder, load(folder)) for folder in new]
    return sorted(states, key=lambda pair: pair[1].known_ms, reverse=True)


def _changed_ms(path: Path) -> int:
    """The last change of state or spool: a hook that is not woken only appends to the spool."""
    return max(places.modified_ms(str(path)), places.modified_ms(str(path.with_name("spool"))))
