"""One look at every live session: read what changed, save what is due, announce it."""

from __future__ import annotations

import time

from holdfast.client.settings_files import transcripts_folder
from holdfast.hub.store.store import Store
from holdfast.watcher import board, checkpoints
from holdfast.watcher.board import BoardWriter
from holdfast.watcher.checkpoints import DueCheckpoint
from holdfast.watcher.glance import Glance, glance, with_past
from holdfast.watcher.live_transcripts import FileWarnings, LiveTranscript, LiveTranscripts
from holdfast.window.state import WindowBusy, all_windows
from holdfast.window.windows import LIVE_MS
from holdfast.wire import log
from holdfast.wire.errors import describe

RETRY_SECONDS = 120.0


class Watch:
    def __init__(self, store: Store | board.StoreFinder | None = None, database: str = "") -> None:
        self._warnings = FileWarnings()
        self._transcripts = LiveTranscripts(str(transcripts_folder()), self._warnings)
        self._hooked: set[str] = set()  # transcripts whose hooks reported lately
        self.board = BoardWriter(store, database)
        self._glances: dict[str, Glance] = {}
        self._last_s: dict[str, float] = {}  # by project: when one of its windows was saved
        self._waiting: list[DueCheckpoint] = []
        self._agents: set[str] = set()
        self._failed_s: dict[str, float] = {}

    def look(self, now_ms: int) -> list[LiveTranscript]:
        """Read what changed, save what is due, deliver waiting messages. Returns what changed."""
        before, self._hooked = self._hooked, _hooked_transcripts(now_ms)
        changed = self._transcripts.look(now_ms, self._hooked)
        for found in changed:
            self._try_to_read(found, now_ms)
        self._forget(now_ms)
        self.save(now_ms)
        self.board.follow(now_ms, again=self._has_new_agent() or not self._hooked <= before)
        return changed

    def _has_new_agent(self) -> bool:
        """Whether a subagent is new since the last look: a message may wait for its role."""
        before = self._agents
        hooked = [one for one in self._glances.values() if one.is_hooked and one.found.agent_id]
        self._agents = {one.found.path for one in hooked}
        return not self._agents <= before

    def save(self, now_ms: int) -> None:
        """Take at most one checkpoint per project; the other windows wait for their turn."""
        wanted = [
            DueCheckpoint(seen, why)
            for seen in self._glances.values()
            if (why := self._reason(seen, now_ms))
        ]
        chosen = checkpoints.choose_per_project(wanted, self._last_s, time.monotonic())
        for one in chosen:
            self._take(one, now_ms)
        self._waiting = [one for one in wanted if one not in chosen]

    def next_s(self) -> float | None:
        """Seconds until the next waiting window may be saved; None while no window waits."""
        now_s = time.monotonic()
        turns = [
            self._last_s.get(one.glance.project, now_s)
            + one.glance.settings.whole("watch_apart_seconds")
            for one in self._waiting
        ]
        return max(0.0, min(turns) - now_s) if turns else None

    def close(self) -> None:
        self.board.close()

    def _try_to_read(self, transcript: LiveTranscript, now_ms: int) -> None:
        """Read one transcript. One that fails is tried again and keeps no other from being read."""
        try:
            self._read(transcript, now_ms)
        except Exception as error:
            self._warnings.warn(transcript.path, f"cannot be read: {error}")
            self._transcripts.report_again(transcript.path)

    def _read(self, transcript: LiveTranscript, now_ms: int) -> None:
        before = self._glances.pop(transcript.path, None)
        seen = glance(transcript, now_ms)
        if seen is None:
            return
        seen = self._glances[transcript.path] = with_past(before, seen)
        self._record(seen, now_ms)
        if before is None and seen.checkpoint_trigger == checkpoints.TRIGGER:
            self._announce_recent(seen, now_ms)

    def _record(self, seen: Glance, now_ms: int) -> None:
        if seen.is_hooked:
            return
        try:
            checkpoints.record(seen, now_ms)
        except WindowBusy:
            return  # a hook holds the window, and it writes more than we would
        except (OSError, ValueError) as error:
            self._warnings.warn(seen.found.path, f"could not be recorded: {error}")

    def _announce_recent(self, seen: Glance, now_ms: int) -> None:
        """Announce a recent checkpoint that a killed watcher may not have announced."""
        if now_ms - seen.checkpoint_ms >= board.MESSAGE_TTL_SECONDS * 1000:
            return
        watch_at = seen.settings.share("watch_at")
        full = seen.checkpoint_tokens >= watch_at * seen.edge_tokens
        minutes = seen.settings.whole("active_minutes")
        why = f"context_{round(watch_at * 100)}_percent" if full else f"active_{minutes}_minutes"
        self.board.trigger(seen, why, seen.checkpoint_path, now_ms)

    def _reason(self, seen: Glance, now_ms: int) -> str:
        """Why a checkpoint is due. A window that could not be saved waits before the next try, so
        that it does not take every turn of its project."""
        failed_s = self._failed_s.get(seen.found.path)
        if failed_s is not None and time.monotonic() - failed_s < RETRY_SECONDS:
            return ""
        return checkpoints.reason(seen, now_ms)

    def _take(self, one: DueCheckpoint, now_ms: int) -> None:
        """Save one window. An error is logged, and the other windows are saved all the same."""
        seen = one.glance
        try:
            kept = checkpoints.take(one, now_ms)
        except WindowBusy:
            return  # a hook holds the window: the next look sees what it did
        except Exception as error:
            self._warnings.warn(seen.found.path, f"could not be saved: {describe(error)}")
            self._failed_s[seen.found.path] = time.monotonic()
            return
        self._try_to_read(seen.found, now_ms)
        if kept is None:
            self._failed_s[seen.found.path] = time.monotonic()
            return
        self._last_s[seen.project] = time.monotonic()
        self._failed_s.pop(seen.found.path, None)
        self.board.trigger(seen, one.reason, kept.path, now_ms)

    def _forget(self, now_ms: int) -> None:
        """Drop silent sessions. They are found again when their transcripts grow."""
        for path, seen in list(self._glances.items()):
            if now_ms - seen.found.changed_ms >= LIVE_MS:
                del self._glances[path]
                log.add("INFO", seen.found.session_id[:8], "silent for half an hour, not watched")
        self._failed_s = {path: s for path, s in self._failed_s.items() if path in self._glances}


def _hooked_transcripts(now_ms: int) -> set[str]:
    """Transcripts of sessions whose hooks reported in the last half hour. A window that a command
    made for a file is none: a recording is not a session that runs."""
    states = (state for _, state in all_windows(now_ms - LIVE_MS))
    return {state.transcript for state in states if state.started_ms and not state.agent_id}
