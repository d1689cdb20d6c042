"""How much work fits now, and how much into a fresh window.

Two settings limit it: one batch takes at most `batch_share` of its window, and at most
`batch_specs` tasks of the plan (specs). A session's room is read from its transcript.
"""

from dataclasses import dataclass, replace

from holdfast.client import compaction_limit
from holdfast.settings.load import Settings
from holdfast.window import measurement
from holdfast.window.guard import estimate_mark
from holdfast.window.history import OVERHEAD_UNKNOWN
from holdfast.window.live_windows import is_over
from holdfast.window.state import State
from holdfast.wire.log import inert

FRESH_TOKENS = OVERHEAD_UNKNOWN  # system prompt and tools of a session that just began
LEAST_ROOM = 1_000  # tokens: no task takes less


@dataclass(frozen=True, slots=True)
class PlanRoom:
    """`now_tokens` is for the first batch, in the current session; `fresh_tokens` for others."""

    now_tokens: int
    fresh_tokens: int
    window_tokens: int
    specs: int
    basis: str
    here: bool = False  # the first batch goes into a session that is at work
    session: str = "this session"  # what that session is called


def room_beside(
    window_tokens: int, edge_tokens: int, used_tokens: int, share: float, specs: int, basis: str
) -> PlanRoom:
    """The room a session leaves: up to its compaction limit, at most the share of its window."""
    limit = int(window_tokens * share)
    now = max(0, min(limit, edge_tokens - used_tokens))
    return PlanRoom(now, _fresh(edge_tokens, limit), window_tokens, specs, basis, here=True)


def fresh_room(
    window_tokens: int, share: float, specs: int, basis: str, edge_tokens: int | None = None
) -> PlanRoom:
    edge = _edge_of(window_tokens) if edge_tokens is None else edge_tokens
    tokens = _fresh(edge, int(window_tokens * share))
    return PlanRoom(tokens, tokens, window_tokens, specs, basis)


def _edge_of(window_tokens: int) -> int:
    return window_tokens - compaction_limit.RESERVE - compaction_limit.MARGIN


def _fresh(edge_tokens: int, limit: int) -> int:
    return max(1, min(limit, edge_tokens - FRESH_TOKENS))


def stated_room(tokens: int, specs: int, window_tokens: int = 0) -> PlanRoom:
    """The room that the user stated, the same for every batch; the window is at least as large."""
    return PlanRoom(tokens, tokens, max(tokens, window_tokens), specs, "as told")


def use_fresh_windows(room: PlanRoom) -> PlanRoom:
    """The same room if no batch goes into the current session."""
    if not room.here:
        return room
    size = f"{room.fresh_tokens:,} tokens of windows of {room.window_tokens:,}"
    return replace(
        room, now_tokens=room.fresh_tokens, here=False, basis=f"like the last session here: {size}"
    )


def share_of(window_tokens: int, share: float) -> str:
    return f"at most {share:.0%} of a fresh window of {window_tokens:,} tokens"


UNKNOWN_WINDOW = compaction_limit.SMALL  # nothing is known: what fits there fits everywhere
UNKNOWN_EDGE = _edge_of(UNKNOWN_WINDOW)


def room_of_window(state: State, folder: str, settings: Settings, now_ms: int) -> PlanRoom:
    """The room of a session's window; for an ended session, a fresh window like its own."""
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    seen = measurement.of_transcript(state, settings, now_ms, folder)
    window, edge = seen.edge.window_tokens, seen.edge.edge_tokens
    used = seen.reading.used_tokens
    is_told = bool(seen.facts.model or seen.facts.stated_window)
    if not is_told:  # no answer yet: the use is a guessed share
        window, edge = min(window, UNKNOWN_WINDOW), min(edge, UNKNOWN_EDGE)
        used = used * edge // seen.edge.edge_tokens
    session = inert(state.session_id[:8])
    if is_over(folder, state):
        which = "like its own" if is_told else "the smallest, as it never named its model"
        words = f"session {session} has ended: {share_of(window, share)}, {which}"
        return fresh_room(window, share, specs, words, edge)
    about = estimate_mark(seen.reading.estimated)
    words = f"session {session}: {about}{used:,} of {edge:,} tokens used"
    return room_beside(window, edge, used, share, specs, words)


def unknown_room(settings: Settings) -> PlanRoom:
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    words = f"no session seen here: {share_of(UNKNOWN_WINDOW, share)}"
    return fresh_room(UNKNOWN_WINDOW, share, specs, words)
