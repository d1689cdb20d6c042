"""Live transcripts, and each live window at a glance: how full it is, and when it was last saved.

To find them only names, times and sizes are read; no link is followed. The token count is read from
the end of the transcript (`wire/tail`), the compaction limit is the one that the session's hooks
recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.client import agents, limit_settings
from holdfast.client import compaction_limit as edges
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.window import view
from holdfast.window.alert_texts import estimate_mark
from holdfast.window.guard import IDLE_MS
from holdfast.window.state import State
from holdfast.window.windows import LIVE_MS, for_transcript
from holdfast.wire import mark, places, tail
from holdfast.wire.tail import Tail

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
        self._files: dict[str, Signature] = {}

    def look(self, now_ms: int, elsewhere: Iterable[str] = ()) -> list[LiveTranscript]:
        """The live transcripts that changed; at the first look, all live ones. `elsewhere` are
        transcripts outside the usual folder, which may not exist yet. A time in the future counts
        as live, as after a clock set back."""
        before, self._files = self._files, {}
        for entry in self._entries(elsewhere):
            about = entry.stat(follow_symlinks=False)
            if now_ms - about.st_mtime_ns // 1_000_000 < LIVE_MS:
                self._files[entry.path] = (about.st_mtime_ns, about.st_size, about.st_ino)
        return [
            _parse_path(path, seen[0] // 1_000_000)
            for path, seen in self._files.items()
            if before.get(path) != seen
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
        if folder.endswith("/subagents") and os.path.islink(folder):  # noqa: PTH114
            return []
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _parse_path(path: str, changed_ms: int) -> LiveTranscript:
    """Parse the name of a session's transcript, or Claude Code's
    `<session>/subagents/agent-<id>.jsonl`."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(ENDING)
    parent, last = os.path.split(folder)
    if last == "subagents" and stem.startswith("agent-"):
        session = os.path.basename(parent)  # noqa: PTH119
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
    if end.basis == "none" or view.is_compacting(end, state, now_ms):
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
    """The new glance, with what was seen since the checkpoint: the time worked, without pauses and
    jumps of the clock, and the fewest tokens. A window that was emptied and fills again needs a new
    checkpoint."""
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
