"""One look at every live session: read what changed, save what is due, announce it.

To find live transcripts, names, times and sizes are read, and the last lines of what changed
lately; no link is followed. The token count is read from the end of the transcript, the compaction
limit is the one that the session's hooks recorded. A checkpoint is taken under the window's lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.checkpoint.write import SavedCheckpoint
from holdfast.client import agents, limit_settings
from holdfast.client import compaction_limit as edges
from holdfast.client.claude_folder import transcripts_folder
from holdfast.record import storage
from holdfast.session import take_checkpoint
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.transcript import lookup
from holdfast.watcher.board import BoardWriter, StoreFinder
from holdfast.window import health, measurement
from holdfast.window.guard import IDLE_MS, estimate_mark
from holdfast.window.live_windows import LIVE_MS, fill, for_transcript
from holdfast.window.state import State, WindowBusy, all_windows, lock_state
from holdfast.wire import log, mark, places, tail
from holdfast.wire.errors import describe
from holdfast.wire.tail import Tail

RETRY_SECONDS = 120.0
# A checkpoint slightly in the future was taken by a hook since this look began. One further ahead
# means that the clock was set back, and waiting for that time would be waiting for nothing.
SET_BACK_MS = 10 * 60_000


ENDING = ".jsonl"
Signature = tuple[int, int, int]  # time, size, inode


@dataclass(frozen=True, slots=True)
class LiveTranscript:
    path: str
    session_id: str
    agent_id: str
    changed_ms: int


class LiveTranscripts:
    def __init__(self, projects: str) -> None:
        self._projects = projects
        self._files: dict[str, tuple[Signature, int]] = {}  # with the time of the last line

    def look(self, now_ms: int, elsewhere: Iterable[str] = ()) -> list[LiveTranscript]:
        """The live transcripts that changed, at first all. `elsewhere` are outside the usual
        folder. A time in the future counts as live, as after a clock set back."""
        before, self._files = self._files, {}
        for entry in self._entries(elsewhere):
            about = entry.stat(follow_symlinks=False)
            if now_ms - about.st_mtime_ns // 1_000_000 < LIVE_MS:
                seen = (about.st_mtime_ns, about.st_size, about.st_ino)
                known = before.get(entry.path)
                if known is None or known[0] != seen:
                    known = seen, lookup.written_ms(entry.path)
                self._files[entry.path] = known
        return [
            _parse_path(path, at_ms)
            for path, (seen, at_ms) in self._files.items()
            if now_ms - at_ms < LIVE_MS and before.get(path, (None,))[0] != seen
        ]

    def report_again(self, path: str) -> None:
        """Report it at the next look as changed, even if it has stopped growing."""
        self._files.pop(path, None)

    def _entries(self, elsewhere: Iterable[str]) -> Iterator[os.DirEntry[str]]:
        """The transcripts of all projects, with those of their subagents, each once."""
        folders = [entry.path for entry in _list(self._projects) if _is_folder(entry)]
        for path in filter(None, elsewhere):
            folder, name = os.path.split(path)
            if folder not in folders:
                yield from (entry for entry in _transcripts(folder) if entry.name == name)
                yield from _transcripts(f"{path.removesuffix(ENDING)}/subagents")
        for folder in folders:
            yield from _transcripts(folder)
            for entry in _list(folder):
                if _is_folder(entry):
                    yield from _transcripts(f"{entry.path}/subagents")


def _transcripts(folder: str) -> Iterator[os.DirEntry[str]]:
    for entry in _list(folder):
        if entry.name.endswith(ENDING) and entry.is_file(follow_symlinks=False):
            yield entry


def _list(folder: str) -> list[os.DirEntry[str]]:
    try:
        if folder.endswith("/subagents") and Path(folder).is_symlink():
            return []
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _parse_path(path: str, changed_ms: int) -> LiveTranscript:
    """A session's transcript, or Claude Code's `<session>/subagents/agent-<id>.jsonl`."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(ENDING)
    parent, last = os.path.split(folder)
    if last == "subagents" and stem.startswith("agent-"):
        session = Path(parent).name
        return LiveTranscript(path, session, stem.removeprefix("agent-"), changed_ms)
    return LiveTranscript(path, agents.session_of(Path(path)), "", changed_ms)


@dataclass(frozen=True, slots=True)
class Glance:
    found: LiveTranscript
    folder: str
    project: str
    used_tokens: int
    edge_tokens: int
    checkpoint_ms: int
    checkpoint_tokens: int
    settings: Settings
    is_hooked: bool = True  # a hook of this session has run
    estimated: bool = False
    active_ms: int = 0  # time worked since the last checkpoint, as the transcript's growth shows it

    @property
    def used_in_words(self) -> str:
        return f"{estimate_mark(self.estimated)}{self.used_ratio:.0%} used"

    @property
    def used_ratio(self) -> float:
        return self.used_tokens / self.edge_tokens


def glance(transcript: LiveTranscript, now_ms: int) -> Glance | None:
    """Read one window; None before the first answer, during a compaction and after the end."""
    os.close(places.open_regular(transcript.path))  # `tail.read` takes an unreadable file for empty
    state, folder = for_transcript(
        Path(transcript.path), transcript.session_id, transcript.agent_id
    )
    if _has_ended(state, folder, transcript):
        return None
    density = state.density or mark.CHARS_PER_TOKEN
    end = tail.read(transcript.path, bool(transcript.agent_id), density)
    if end.basis == "none" or measurement.is_compacting(end, state, now_ms):
        return None
    used = end.used_tokens(density, state.overhead_tokens)
    return Glance(
        transcript,
        folder,
        state.project or state.cwd,
        used,
        _edge_tokens(state, end, used),
        state.checkpoint_ms,
        min(state.checkpoint_tokens, used),
        settings_load.load(state.project),
        bool(state.started_ms),
        not end.is_counted_by_client(),
    )


def with_past(before: Glance | None, seen: Glance) -> Glance:
    """The new glance, with the time worked since the checkpoint and the fewest tokens: a window
    that was emptied and fills again needs a new one."""
    if before is None or before.checkpoint_ms != seen.checkpoint_ms:
        return seen
    gap = seen.found.changed_ms - before.found.changed_ms
    worked = gap if 0 < gap <= IDLE_MS else 0
    least = min(before.checkpoint_tokens, seen.checkpoint_tokens)
    return replace(seen, checkpoint_tokens=least, active_ms=before.active_ms + worked)


def _has_ended(state: State, folder: str, transcript: LiveTranscript) -> bool:
    """Whether the session ended and its transcript has not grown since (it may be resumed)."""
    if places.is_closed(folder):
        return True
    return bool(state.ended_ms) and transcript.changed_ms <= state.ended_ms + 2_000


def _edge_tokens(state: State, end: Tail, used: int) -> int:
    if state.edge_tokens and used <= state.window_tokens:
        return state.edge_tokens
    return edges.find(
        end.model or state.model,
        end.version or state.client_version,
        limit_settings.from_json(state.switches),
        used_tokens=used,
        stated_window=None if state.agent_id else state.stated_window or None,
    ).edge_tokens


class Watch:
    def __init__(self, find_store: StoreFinder) -> None:
        self._transcripts = LiveTranscripts(str(transcripts_folder()))
        self._hooked: set[str] = set()  # transcripts whose hooks reported lately
        self._board = BoardWriter(find_store)
        self._glances: dict[str, Glance] = {}
        self._last_s: dict[str, float] = {}  # by project: when one of its windows was saved
        self._waiting: list[DueCheckpoint] = []
        self._agents: set[str] = set()
        self._failed_s: dict[str, float] = {}
        self._warned: set[tuple[str, str]] = set()

    def look(self, now_ms: int) -> list[LiveTranscript]:
        """Read what changed, save what is due, deliver waiting messages. Returns what changed."""
        before, self._hooked = self._hooked, _hooked_transcripts(now_ms)
        changed = self._transcripts.look(now_ms, self._hooked)
        for found in changed:
            self._try_to_read(found, now_ms)
        self._forget(now_ms)
        self.save(now_ms)
        self._board.follow(now_ms, again=self._has_new_agent() or not self._hooked <= before)
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
        chosen = choose_per_project(wanted, self._last_s, time.monotonic())
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

    def _try_to_read(self, transcript: LiveTranscript, now_ms: int) -> None:
        """Read one transcript. One that fails is tried again and keeps no other from being read."""
        try:
            self._read(transcript, now_ms)
        except WindowBusy:
            return  # a hook holds the window, and it writes more than we would
        except Exception as error:
            self._warn(transcript.path, f"cannot be read: {error}")
            self._transcripts.report_again(transcript.path)

    def _read(self, transcript: LiveTranscript, now_ms: int) -> None:
        before = self._glances.pop(transcript.path, None)
        seen = glance(transcript, now_ms)
        if seen is None:
            return
        seen = self._glances[transcript.path] = with_past(before, seen)
        if not seen.is_hooked:
            record(seen, now_ms)

    def _reason(self, seen: Glance, now_ms: int) -> str:
        """Why a checkpoint is due. One that could not be saved lets others have their turn."""
        failed_s = self._failed_s.get(seen.found.path)
        if failed_s is not None and time.monotonic() - failed_s < RETRY_SECONDS:
            return ""
        return reason(seen, now_ms)

    def _take(self, one: DueCheckpoint, now_ms: int) -> None:
        """Save one window. An error is logged, and the other windows are saved all the same."""
        seen, kept = one.glance, None
        try:
            kept = take(one, now_ms)
        except WindowBusy:
            return  # a hook holds the window: the next look sees what it did
        except Exception as error:
            self._warn(seen.found.path, f"could not be saved: {describe(error)}")
        if kept is None:
            self._failed_s[seen.found.path] = time.monotonic()
            return
        self._try_to_read(seen.found, now_ms)
        self._last_s[seen.project] = time.monotonic()
        self._failed_s.pop(seen.found.path, None)
        self._board.announce(seen, one.reason, kept.path, now_ms)

    def _forget(self, now_ms: int) -> None:
        """Drop silent sessions. They are found again when their transcripts grow."""
        for path, seen in list(self._glances.items()):
            if now_ms - seen.found.changed_ms >= LIVE_MS:
                del self._glances[path]
                log.add("INFO", seen.found.session_id[:8], "silent for half an hour, not watched")
        self._failed_s = {path: s for path, s in self._failed_s.items() if path in self._glances}

    def _warn(self, path: str, words: str) -> None:
        """Log it once: a look every half minute must not fill the log."""
        if (path, words) not in self._warned:
            self._warned.add((path, words))
            log.add("WARN", "watcher", f"{path} {words}")


def _hooked_transcripts(now_ms: int) -> set[str]:
    """Transcripts whose hooks reported in the last half hour; a recording has none."""
    states = (state for _, state in all_windows(now_ms - LIVE_MS))
    return {state.transcript for state in states if state.started_ms and not state.agent_id}


@dataclass(frozen=True, slots=True)
class DueCheckpoint:
    glance: Glance
    reason: str  # as the message names it: context_60_percent, active_30_minutes


def reason(seen: Glance, now_ms: int) -> str:
    """Why a checkpoint is due now; empty if none is, as always soon after the last one."""
    settings = seen.settings
    if -SET_BACK_MS < now_ms - seen.checkpoint_ms < settings.whole("cooldown_seconds") * 1000:
        return ""
    watch_at = settings.share("watch_at")
    wanted = health.recommend_action(
        seen.used_tokens, seen.edge_tokens, seen.checkpoint_tokens, watch_at
    )
    if wanted == health.TRIGGER:
        return f"context_{round(watch_at * 100)}_percent"
    minutes = settings.whole("active_minutes")
    return f"active_{minutes}_minutes" if seen.active_ms >= minutes * 60_000 else ""


def choose_per_project(
    due: Iterable[DueCheckpoint], last_s: Mapping[str, float], now_s: float
) -> list[DueCheckpoint]:
    """At most one window per project, not just after another: the fullest first, then by time."""
    chosen: dict[str, DueCheckpoint] = {}
    order = sorted(due, key=lambda one: (one.reason.startswith("active"), -one.glance.used_ratio))
    for one in order:
        project, apart = one.glance.project, one.glance.settings.whole("watch_apart_seconds")
        waited = now_s - last_s.get(project, now_s - apart)
        if project not in chosen and waited >= apart:
            chosen[project] = one
    return list(chosen.values())


def take(due: DueCheckpoint, now_ms: int) -> SavedCheckpoint | None:
    """Take a verified checkpoint; None if not due any more. It is read before the lock."""
    seen = due.glance
    read_ahead(seen)
    with lock_state(seen.folder) as state:
        fill(state, Path(seen.found.path), seen.found.session_id, seen.found.agent_id)
        if not reason(_with_latest_checkpoint(seen, state), now_ms):
            return None
        measurement.measure(state, seen.settings, now_ms, seen.folder)
        kept = take_checkpoint.take(state, seen.folder, "watcher", now_ms)
    if kept is not None:
        words = f"checkpoint {kept.id} {'is unchanged' if kept.reused else 'saved'} (watcher)"
        log.add("INFO", seen.found.session_id[:8], f"{seen.used_in_words}, {due.reason}, {words}")
    return kept


def record(seen: Glance, now_ms: int) -> None:
    """Record a window that no hook has reported, so that it is listed among the live ones."""
    places.make_folder(seen.folder)
    with lock_state(seen.folder) as state:
        if not state.started_ms:
            fill(state, Path(seen.found.path), seen.found.session_id, seen.found.agent_id)
            measurement.measure(state, seen.settings, now_ms, seen.folder)
            # A time in the future would keep the window live for ever.
            state.watched_ms = min(seen.found.changed_ms, now_ms)


def read_ahead(seen: Glance) -> None:
    places.make_folder(seen.folder)
    state, folder = for_transcript(
        Path(seen.found.path), seen.found.session_id, seen.found.agent_id
    )
    try:
        storage.read_on(state, folder)
    except Exception as error:  # the checkpoint itself reports what is missing
        log.add("WARN", "watcher", f"{seen.found.path} could not be read ahead: {describe(error)}")


def _with_latest_checkpoint(seen: Glance, state: State) -> Glance:
    if state.checkpoint_ms == seen.checkpoint_ms:
        return seen
    saved = min(state.checkpoint_tokens, seen.used_tokens)
    return replace(seen, checkpoint_ms=state.checkpoint_ms, checkpoint_tokens=saved)
