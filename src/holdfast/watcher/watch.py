"""One watcher's eyes and hands: look, judge, save what is due, say so."""

from __future__ import annotations

import time
from dataclasses import replace

from holdfast.client.claude_folder import transcripts_folder
from holdfast.hub.store.store import Store
from holdfast.watcher import announcements, checkpointing, due_checkpoints
from holdfast.watcher.active_time import ActiveTime
from holdfast.watcher.announcements import Board
from holdfast.watcher.due_checkpoints import Due
from holdfast.watcher.glance import Glance, glance
from holdfast.watcher.hook_windows import Windows
from holdfast.watcher.live_transcripts import Found, Transcripts
from holdfast.watcher.troubles import Troubles
from holdfast.window import state as states
from holdfast.window.live_windows import LIVE_MS
from holdfast.window.state import WindowBusy
from holdfast.wire import log

AGAIN_SECONDS = 120.0


class Watch:
    def __init__(
        self, store: Store | announcements.Found | None = None, database: str = ""
    ) -> None:
        self._troubles = Troubles()
        self._transcripts = Transcripts(str(transcripts_folder()), self._troubles)
        self._windows = Windows()
        self._board = Board(store, database)
        self._active = ActiveTime()
        self._glances: dict[str, Glance] = {}
        self._active_ms: dict[str, int] = {}  # by transcript: since its last checkpoint
        self._last_s: dict[str, float] = {}  # by project: when one of its windows was saved
        self._waiting: list[Due] = []
        self._agents: set[str] = set()
        self._failed_s: dict[str, float] = {}

    def look(self, now_ms: int) -> list[Found]:
        """See what changed, save what is due, hand out what waits; what was seen to change."""
        opened = self._windows.new()
        for folder in opened:
            self._transcripts.add(states.load(folder).transcript, now_ms)
        changed = self._transcripts.look(now_ms)
        for found in changed:
            self._try_to_see(found, now_ms)
        self._forget(now_ms)
        self.save(now_ms)
        self._board.follow(now_ms, anew=self._has_come() or bool(opened))
        return changed

    def _has_come(self) -> bool:
        """A subagent whose hooks told what it is: a message may wait for its kind."""
        before = self._agents
        heard = [one for one in self._glances.values() if one.is_hooked and one.found.agent_id]
        self._agents = {one.found.path for one in heard}
        return not self._agents <= before

    def save(self, now_ms: int) -> None:
        """One checkpoint of each project whose turn it is; the others wait for theirs."""
        wanted = [
            Due(seen, why) for seen in self._glances.values() if (why := self._why(seen, now_ms))
        ]
        chosen = due_checkpoints.next_of_each(wanted, self._last_s, time.monotonic())
        for one in chosen:
            self._take(one, now_ms)
        self._waiting = [one for one in wanted if one not in chosen]

    def next_s(self) -> float | None:
        """In how many seconds somebody's turn may have come; None: nobody waits."""
        now_s = time.monotonic()
        turns = [
            self._last_s.get(one.glance.project, now_s)
            + one.glance.settings.whole("watch_apart_seconds")
            for one in self._waiting
        ]
        return max(0.0, min(turns) - now_s) if turns else None

    def close(self) -> None:
        self._board.close()

    def _try_to_see(self, found: Found, now_ms: int) -> None:
        """One that changed is told of once: those after it must be seen, whatever one holds."""
        try:
            self._see(found, now_ms)
        except Exception as slip:
            self._troubles.say(found.path, f"cannot be read: {slip}")
            self._transcripts.tell_again(found.path)

    def _see(self, found: Found, now_ms: int) -> None:
        before = self._glances.pop(found.path, None)
        seen = glance(found, now_ms)
        if seen is None:
            return
        seen = self._glances[found.path] = _since(before, seen)
        self._note(seen, now_ms)
        active = self._active.note(found.path, seen.checkpoint_ms, found.changed_ms)
        self._active_ms[found.path] = max(active, seen.active_ms)
        if before is None and seen.checkpoint_trigger == checkpointing.TRIGGER:
            self._say_again(seen, now_ms)

    def _note(self, seen: Glance, now_ms: int) -> None:
        if seen.is_hooked:
            return
        try:
            checkpointing.note(seen, now_ms)
        except WindowBusy:
            return  # a hook is at it, and notes more than we would
        except (OSError, ValueError) as slip:
            self._troubles.say(seen.found.path, f"could not be noted: {slip}")

    def _say_again(self, seen: Glance, now_ms: int) -> None:
        """A watcher that was killed may have kept it and not said so."""
        if now_ms - seen.checkpoint_ms >= announcements.TTL_SECONDS * 1000:
            return
        watch_at = seen.settings.share("watch_at")
        full = seen.checkpoint_tokens >= watch_at * seen.edge_tokens
        minutes = seen.settings.whole("active_minutes")
        why = f"context_{round(watch_at * 100)}_percent" if full else f"active_{minutes}_minutes"
        self._board.trigger(seen, why, seen.checkpoint_path, now_ms)

    def _why(self, seen: Glance, now_ms: int) -> str:
        """One that could not be saved has its turn again later: it must not take all of them."""
        failed_s = self._failed_s.get(seen.found.path)
        if failed_s is not None and time.monotonic() - failed_s < AGAIN_SECONDS:
            return ""
        return due_checkpoints.reason(seen, self._active_ms.get(seen.found.path, 0), now_ms)

    def _take(self, one: Due, now_ms: int) -> None:
        """Whatever goes wrong with one window keeps no other waiting."""
        seen = one.glance
        try:
            kept = checkpointing.take(one, self._active_ms.get(seen.found.path, 0), now_ms)
        except WindowBusy:
            return  # a hook is at it: the next look sees what it did
        except Exception as slip:
            self._troubles.say(seen.found.path, f"could not be saved: {slip!r}")
            self._failed_s[seen.found.path] = time.monotonic()
            return
        self._try_to_see(seen.found, now_ms)
        if kept is None:
            self._failed_s[seen.found.path] = time.monotonic()
            return
        self._last_s[seen.project] = time.monotonic()
        self._failed_s.pop(seen.found.path, None)
        self._board.trigger(seen, one.reason, kept.path, now_ms)

    def _forget(self, now_ms: int) -> None:
        """Sessions that fell silent; they are seen again when they go on."""
        for path, seen in list(self._glances.items()):
            if now_ms - seen.found.changed_ms >= LIVE_MS:
                del self._glances[path]
                log.add("INFO", seen.found.session_id[:8], "silent for half an hour, not watched")
        self._active.forget(set(self._glances))
        self._failed_s = {path: s for path, s in self._failed_s.items() if path in self._glances}
        self._active_ms = {path: n for path, n in self._active_ms.items() if path in self._glances}


def _since(before: Glance | None, seen: Glance) -> Glance:
    """A window that was freed since its checkpoint is not saved any more when it fills again."""
    if before is None or before.checkpoint_ms != seen.checkpoint_ms:
        return seen
    least = min(before.checkpoint_tokens, seen.checkpoint_tokens)
    return replace(seen, checkpoint_tokens=least)
