"""One live window at a glance: how full it is, and when it was last saved.

The token count is read from the end of the transcript (`wire/tail`), the compaction limit is the
one that the session's hooks recorded. Nothing here needs more of the transcript than its end.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.client import compaction_limit as edges
from holdfast.client import limit_settings
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.watcher.live_transcripts import LiveTranscript
from holdfast.window import view
from holdfast.window.alert_texts import estimate_mark
from holdfast.window.guard import IDLE_MS
from holdfast.window.state import State
from holdfast.window.windows import for_transcript
from holdfast.wire import mark, places, tail
from holdfast.wire.tail import Tail


@dataclass(frozen=True, slots=True)
class Glance:
    found: LiveTranscript
    folder: str
    project: str
    used_tokens: int
    edge_tokens: int
    checkpoint_ms: int
    checkpoint_tokens: int
    checkpoint_trigger: str
    checkpoint_path: str
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
    _check_readable(transcript.path)
    state, folder = for_transcript(
        Path(transcript.path), transcript.session_id, transcript.agent_id
    )
    if _has_ended(state, folder, transcript):
        return None
    end = tail.read(
        transcript.path, bool(transcript.agent_id), state.density or mark.CHARS_PER_TOKEN
    )
    if end.basis == "none" or view.is_compacting(end, state, now_ms):
        return None
    used = end.used_tokens(state.density or mark.CHARS_PER_TOKEN, state.overhead_tokens)
    settings = settings_load.load(state.project)
    return Glance(
        transcript,
        folder,
        state.project or state.cwd,
        used,
        _edge_tokens(state, end, used),
        state.checkpoint_ms,
        min(state.checkpoint_tokens, used),
        state.checkpoint_trigger,
        state.checkpoint_path,
        settings,
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


def _check_readable(path: str) -> None:
    """Raise if the file cannot be opened. `tail.read` would take it for an empty one."""
    os.close(places.open_regular(path))


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
