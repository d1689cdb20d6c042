"""Windows by transcript, the windows that are still in use, what they hold now, and which others
are at work beside one.

Windows are read again from their transcripts, so that the numbers agree with `status`: hooks that
are not woken record nothing. A look is cached until the transcript or the state changes.
"""

import os
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from holdfast.client import claude_folder, limit_settings
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.transcript import lookup
from holdfast.window import health
from holdfast.window import state as window_state
from holdfast.window.guard import Thresholds, place
from holdfast.window.state import COMPACTING_MS, State, all_windows
from holdfast.wire import places, spool

LIVE_MS = 30 * 60_000  # after a longer silence it was killed or left open
MOST_SECONDS = 1.0  # the end of one long transcript takes 60 ms, and there may be a thousand
MOST_KEPT = 2_000
Signature = tuple[tuple[int, int], ...]


def is_over(folder: str, state: State) -> bool:
    """Whether its session or its agent has ended, as its hooks reported. A session that reports
    again was resumed, also if the hook of its new start was killed."""
    if places.is_closed(folder):
        return True
    # A hook that is not woken leaves only a line in the spool.
    has_ended = bool(state.ended_ms)
    return has_ended and all(line.ms <= state.ended_ms for line in spool.recent(folder))


def for_transcript(path: Path, session_id: str, agent_id: str) -> tuple[State, str]:
    """Return a transcript's state and folder; two files that claim one session have their own."""
    folder = places.window(session_id, agent_id)
    state = window_state.load(folder)
    real = path.resolve()  # two folders may each hold a `transcript.jsonl`
    if state.transcript and Path(state.transcript).resolve() != real:
        key = crc32(str(real).encode("utf-8", "surrogateescape"))
        folder = places.window(f"{session_id}.{key:08x}", agent_id)
        state = window_state.load(folder)
    fill(state, path, session_id, agent_id)
    return state, folder


def fill(state: State, path: Path, session_id: str, agent_id: str) -> None:
    """Fill in ids, project and limit settings, unless hooks recorded them."""
    if not state.session_id:
        state.session_id, state.agent_id = session_id, agent_id
        project = claude_folder.project_of(path)
        state.cwd = state.project = project
        state.switches = limit_settings.read(project, os.environ).as_json()
    state.transcript = str(path)


def look(windows: Iterable[tuple[str, State]], now_ms: int) -> dict[str, dict[str, Any]]:
    """Health by folder, without those that have no transcript here or took too long."""
    until_s = time.monotonic() + MOST_SECONDS
    found: dict[str, dict[str, Any]] = {}
    for folder, state in windows:
        files = state.transcript, f"{folder}/state.json"
        signed = tuple((places.modified_ms(file), places.size_of(file)) for file in files)
        # Compacting ends without a change of these files: then a look is good for a minute.
        compacts = state.compacting_ms > now_ms - COMPACTING_MS
        if signed[0][0] and time.monotonic() < until_s:
            found[folder] = _health(folder, signed, now_ms // 60_000 if compacts else 0)
    return found


@lru_cache(MOST_KEPT)
def _health(folder: str, _signed: Signature, _minute: int) -> dict[str, Any]:
    from holdfast.window import measurement  # many callers only ask whether a window is over
    from holdfast.window.health import describe

    state = window_state.load(folder)
    settings = settings_load.load(state.project)
    seen = measurement.of_transcript(state, settings, int(time.time() * 1000), folder)
    return describe(seen, state, settings.share("watch_at"))


MOST_PEERS = 50
READ = (
    *("used_tokens", "used_ratio", "room_tokens", "estimated", "zone", "alert"),
    *("velocity_tokens_per_op", "ops_left", "minutes_left"),
)


def peers_of(
    state: State, settings: Settings, now_ms: int, task_tokens: int = 0
) -> list[dict[str, Any]]:
    """Other live windows, fullest first; with `task_tokens`, whether such a task still fits."""
    zones = Thresholds.of(settings).zones
    beside = [
        (folder, other)
        for folder, other in all_windows(now_ms - LIVE_MS)
        if _is_beside(other, state) and is_live(folder, other, now_ms)
    ]
    beside.sort(key=lambda pair: _used_ratio(pair[1]), reverse=True)
    looked = look(beside[:MOST_PEERS], now_ms)
    peers = [
        _peer(one, looked.get(folder) or _as_recorded(one, zones))
        for folder, one in beside[:MOST_PEERS]
    ]
    for peer in peers if task_tokens else ():
        peer["fits"] = health.task_fits(peer["room_tokens"], task_tokens)
    return sorted(peers, key=lambda peer: float(peer["used_ratio"]), reverse=True)


def _is_beside(other: State, state: State) -> bool:
    same_window = (other.session_id, other.agent_id) == (state.session_id, state.agent_id)
    is_same_project = other.project == (state.project or None)
    return (other.session_id == state.session_id or is_same_project) and not same_window


def is_live(folder: str, other: State, now_ms: int) -> bool:
    """Whether it has not ended and was active in the last half hour."""
    return not is_over(folder, other) and now_ms - _last_report_ms(other) < LIVE_MS


def _last_report_ms(other: State) -> int:
    """Last activity: a woken hook, the watcher, or a line in its transcript."""
    return max(other.known_ms, lookup.written_ms(other.transcript) if other.transcript else 0)


def _peer(one: State, health: dict[str, Any]) -> dict[str, Any]:
    return {
        "session_id": one.session_id,
        "agent_id": one.agent_id or None,
        "agent_type": one.agent_type or None,
        **{name: health[name] for name in READ},
        "checkpoint_ms": one.saved_ms or None,
        "at_ms": _last_report_ms(one),
    }


def _as_recorded(one: State, zones: tuple[float, float, float]) -> dict[str, Any]:
    """As last recorded, without a forecast: the transcript is not on this machine."""
    ratio = _used_ratio(one)
    return dict.fromkeys(READ) | {
        "used_tokens": one.used_tokens,
        "used_ratio": round(ratio, 4),
        "room_tokens": max(0, one.edge_tokens - one.used_tokens) if one.edge_tokens else None,
        "estimated": one.estimated,
        "zone": place(ratio, zones).name.lower(),
        "velocity_tokens_per_op": round(one.velocity, 1) or None,
    }


def _used_ratio(one: State) -> float:
    return one.used_tokens / one.edge_tokens if one.edge_tokens else 0.0
