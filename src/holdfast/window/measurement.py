"""One window as a value: reading, limit, forecast and verdict, for hooks and commands alike.

Where no usage can be read, the reading is an estimate and says so. It is taken from the status
line, else from the transcript's bytes, else from weighted counts of calls.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.client import compaction_limit, limit_settings
from holdfast.client.compaction_limit import CompactionLimit
from holdfast.client.limit_settings import LimitSettings
from holdfast.settings.load import Settings
from holdfast.window import guard, history, observed_limits, velocity
from holdfast.window.guard import Reading, Thresholds, Verdict
from holdfast.window.history import WindowCompaction, WindowHistory
from holdfast.window.observed_limits import Observation
from holdfast.window.state import COMPACTING_MS, State
from holdfast.window.velocity import Forecast
from holdfast.wire import mark, places, scan, spool, tail
from holdfast.wire.log import inert
from holdfast.wire.spool import SpoolLine
from holdfast.wire.tail import Tail

if TYPE_CHECKING:
    from holdfast.hook.observation import Moment

KB = 1024
# Bytes of transcript and the share of the edge they stand for: yellow, orange, red.
BYTE_ZONES = ((0, 0.0), (500 * KB, 0.50), (750 * KB, 0.75), (1024 * KB, 0.90), (1200 * KB, 1.0))
BYTES_PER_TOKEN = 4
MESSAGE_WEIGHT, TOOL_WEIGHT = 0.01, 0.005
WEIGHTS = {"Read": 0.02, "Agent": 0.05, "Task": 0.05}
WEIGHTS |= dict.fromkeys(("Edit", "Write", "MultiEdit", "NotebookEdit"), 0.015)
IDLE_MS = 30 * 60_000


def from_status_line(noted: dict[str, Any], now_ms: int) -> Reading | None:
    """The status line's own count, if it ever had one."""
    used = noted.get("used_tokens")
    if not isinstance(used, int) or used <= 0:
        return None
    return Reading(used, now_ms, "status-line", estimated=True)


def from_bytes(transcript_bytes: int, edge_tokens: int, now_ms: int) -> Reading | None:
    """Between two known sizes the share grows evenly; past the last the window counts as full. The
    sizes are those of a window of 200,000 tokens: a larger one holds no more than the bytes do."""
    if transcript_bytes <= 0:
        return None
    share = BYTE_ZONES[-1][1]
    for (low, low_share), (high, high_share) in pairwise(BYTE_ZONES):
        if transcript_bytes < high:
            part = (transcript_bytes - low) / (high - low)
            share = low_share + part * (high_share - low_share)
            break
    used_tokens = min(int(share * edge_tokens), transcript_bytes // BYTES_PER_TOKEN)
    return Reading(used_tokens, now_ms, "bytes", estimated=True)


def from_weights(lines: Iterable[SpoolLine], edge_tokens: int, now_ms: int) -> Reading | None:
    """Counts of what the hooks saw, each with its weight, never above the whole."""
    share = sum(map(_weight, lines))
    if share <= 0:
        return None
    return Reading(int(min(share, 1.0) * edge_tokens), now_ms, "weights", estimated=True)


def _weight(line: SpoolLine) -> float:
    if line.event == "UserPromptSubmit":
        return MESSAGE_WEIGHT
    is_call = line.event.startswith("PostToolUse")
    return WEIGHTS.get(line.tool, TOOL_WEIGHT) if is_call else 0.0


class WindowFacts(NamedTuple):
    """What a window's transcript and status line tell of it, or what its state knew before."""

    model: str
    client_version: str
    density: float
    stated_window: int
    overhead_tokens: int


class View(NamedTuple):
    reading: Reading
    edge: CompactionLimit
    forecast: Forecast
    verdict: Verdict
    facts: WindowFacts
    observations: tuple[Observation, ...] = ()  # of where the client compacted, here


def of_moment(moment: "Moment", state: State, settings: Settings) -> View:
    """The window at one hook, with the payload's own result counted in."""
    return _of(moment.tail, moment.folder, state, settings, moment.now_ms, moment.pending_chars)


def of_transcript(state: State, settings: Settings, now_ms: int, folder: str = "") -> View:
    """The window as its transcript stands. `folder` holds what its hooks left."""
    end = tail.read(state.transcript, bool(state.agent_id), state.density or mark.CHARS_PER_TOKEN)
    return _of(end, folder, state, settings, now_ms, 0.0)


def measure(state: State, settings: Settings, now_ms: int, folder: str) -> None:
    """Bring the state up to date outside a hook, so without recording a visit of a hook."""
    heard_ms = state.at_ms
    remember(state, of_transcript(state, settings, now_ms, folder))
    state.at_ms = heard_ms


def remember(state: State, seen: View) -> None:
    """Write what was seen into the state. This is the only place that does."""
    edge, reading, ahead = seen.edge, seen.reading, seen.forecast
    vars(state).update(seen.facts._asdict())
    state.window_tokens, state.edge_tokens = edge.window_tokens, edge.edge_tokens
    state.edge_kind, state.edge_source = edge.kind, edge.source
    state.used_tokens, state.basis = reading.used_tokens, reading.basis
    state.estimated, state.at_ms = reading.estimated, reading.at_ms
    state.velocity, state.pace_ms = ahead.velocity_tokens_per_op or 0.0, ahead.pace_ms or 0.0
    state.growth = ahead.growth or 0.0


def _of(
    end: Tail, folder: str, state: State, settings: Settings, now_ms: int, pending: float
) -> View:
    past = history.of(state.transcript, sidechain=bool(state.agent_id))
    facts = _facts(state, end, past, folder)
    used = end.used_tokens(facts.density, facts.overhead_tokens, pending)
    observed = _new_observations(state, facts, past)
    edge = _edge(state, facts, past, used, observed)
    reading = _reading(end, folder, state, edge, used, now_ms)
    return View(
        reading,
        edge,
        velocity.forecast(past.levels, past.times_ms, reading.used_tokens, edge.edge_tokens),
        guard.judge(past.levels, reading.used_tokens, edge.edge_tokens, Thresholds.of(settings)),
        facts,
        observed,
    )


def _facts(state: State, end: Tail, past: WindowHistory, folder: str) -> WindowFacts:
    """Model, density and overhead, as far as this transcript tells them."""
    density = past.density or state.density or mark.CHARS_PER_TOKEN
    window = _status_line(folder).get("window_tokens")
    overhead = state.overhead_tokens
    if not overhead and end.basis != "none":
        overhead = history.overhead_tokens(
            state.transcript, sidechain=bool(state.agent_id), density=density
        )
    return WindowFacts(
        model=inert(end.model or past.model, 200) or state.model,
        client_version=inert(end.version or past.version, 200) or state.client_version,
        density=density,
        stated_window=end.window_tokens
        or (window if isinstance(window, int) else 0)
        or state.stated_window,
        overhead_tokens=overhead,
    )


def _new_observations(
    state: State, facts: WindowFacts, past: WindowHistory
) -> tuple[Observation, ...]:
    """Automatic compactions of this window since its limit settings last changed."""
    turned = limit_settings.from_json(state.switches)
    return tuple(
        Observation(
            *observed_limits.conditions(
                compaction.model or facts.model,
                compaction.boundary.line.version or facts.client_version,
                turned,
            ),
            compaction.boundary.pre_tokens or 0,
            compaction.boundary.line.uuid,
            int((compaction.boundary.epoch_s or 0) * 1000),
        )
        for compaction in past.compactions
        if _tells_limit(compaction, state.switches_ms)
    )


def _tells_limit(one: WindowCompaction, since_ms: int) -> bool:
    """An idle compaction comes below the limit, 54 minutes after the last answer."""
    boundary = one.boundary
    known = bool(boundary.pre_tokens and boundary.line.uuid) and boundary.trigger == "auto"
    return known and one.waited_ms < IDLE_MS and (boundary.epoch_s or 0) * 1000 >= since_ms


def _edge(
    state: State,
    facts: WindowFacts,
    past: WindowHistory,
    used: int,
    observed: tuple[Observation, ...],
) -> CompactionLimit:
    turned: LimitSettings = limit_settings.from_json(state.switches)
    wanted = observed_limits.conditions(facts.model, facts.client_version, turned)
    return compaction_limit.find(
        facts.model,
        facts.client_version,
        turned,
        used_tokens=_most(used, past.totals),
        stated_window=None if state.agent_id else facts.stated_window,
        seen_pre_tokens=observed_limits.load().pre_tokens(wanted, observed),
        passed_tokens=sorted(past.totals)[-2] if len(past.totals) > 1 else 0,
    )


def _most(used: int, totals: Sequence[int]) -> int:
    """The fullest it has been. A single total above every known window size is an error: if it
    counted, everything after it would look small."""
    above = [total for total in totals if total > compaction_limit.LARGE]
    believed = (
        totals if len(above) > 1 else [total for total in totals if total <= compaction_limit.LARGE]
    )
    return max([used, *believed])


def _reading(
    end: Tail, folder: str, state: State, edge: CompactionLimit, used: int, now_ms: int
) -> Reading:
    if is_compacting(end, state, now_ms):
        return Reading(used, now_ms, "compacting", estimated=True)
    if end.basis != "none":
        return Reading(used, now_ms, end.basis, estimated=not end.is_counted_by_client())
    long = (
        end.size and not end.is_whole_file
    )  # 4 MB without an answer: their size says nothing about tokens
    if long and state.used_tokens:
        return Reading(state.used_tokens, now_ms, "earlier", estimated=True)
    lines = spool.lines(folder) if folder else []
    return (
        from_status_line(_status_line(folder), now_ms)
        or from_bytes(0 if long else end.size, edge.edge_tokens, now_ms)
        or from_weights(lines, edge.edge_tokens, now_ms)
        or Reading(0, now_ms, "none", estimated=True)
    )


def is_compacting(end: Tail, state: State, now_ms: int) -> bool:
    """Whether the newest answer is still the one from before PreCompact."""
    return (
        bool(state.compacting_answer)
        and end.basis == "usage"
        and end.answer_id == state.compacting_answer
        and 0 <= now_ms - state.compacting_ms < COMPACTING_MS
    )


def _status_line(folder: str) -> dict[str, Any]:
    """What the client last told the status line, in the session's main window."""
    return scan.parse_object(places.read_small(f"{folder}/statusline.json")) if folder else {}
