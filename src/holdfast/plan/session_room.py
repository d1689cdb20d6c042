"""The room a session leaves, as its transcript stands; and what is taken where there is none."""

from __future__ import annotations

from holdfast.plan import room
from holdfast.plan.room import Room
from holdfast.settings.load import Settings
from holdfast.window import view
from holdfast.window.alert_texts import about
from holdfast.window.live_windows import is_over
from holdfast.window.state import State
from holdfast.wire.log import inert


def of_window(state: State, folder: str, settings: Settings, now_ms: int) -> Room:
    """Of one that has ended, a fresh window like its own."""
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    seen = view.of_transcript(state, settings, now_ms, folder)
    window, edge = seen.edge.window_tokens, seen.edge.edge_tokens
    used = seen.reading.used_tokens
    if not seen.model and not state.stated_window:  # no answer yet: what is used is a guessed share
        window, edge = min(window, room.UNKNOWN_WINDOW), min(edge, room.UNKNOWN_EDGE)
        used = used * edge // seen.edge.edge_tokens
    session = inert(state.session_id[:8])
    if is_over(folder, state):
        words = f"session {session} has ended: {room.share_of(window, share)} like its own"
        return room.fresh(window, share, specs, words, edge)
    words = f"session {session}: {about(seen.reading.estimated)}{used:,} of {edge:,} tokens used"
    return room.beside(window, edge, used, share, specs, words)


def unknown(settings: Settings) -> Room:
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    words = f"no session seen here: {room.share_of(room.UNKNOWN_WINDOW, share)}"
    return room.fresh(room.UNKNOWN_WINDOW, share, specs, words)
