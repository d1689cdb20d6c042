"""One window, seen whole: reading, edge, forecast and verdict, for hooks and commands alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.client import compaction_limit as client_edge
from holdfast.client import limit_settings as client_switches
from holdfast.client import models
from holdfast.client.compaction_limit import CompactionLimit
from holdfast.client.limit_settings import LimitSettings
from holdfast.hook.observation import Moment
from holdfast.settings.load import Settings
from holdfast.window import fallback, guard, history, observed_limits, velocity
from holdfast.window.guard import Thresholds, Verdict
from holdfast.window.history import Compaction, History
from holdfast.window.observed_limits import Observation
from holdfast.window.reading import Reading
from holdfast.window.state import State
from holdfast.window.velocity import Forecast
from holdfast.wire import mark, places, scan, spool, tail
from holdfast.wire.log import inert
from holdfast.wire.tail import Tail

COMPACTING_MS = 10 * 60_000  # a compaction that took longer than this never came
IDLE_MS = 30 * 60_000


@dataclass(frozen=True, slots=True)
class View:
    reading: Reading
    edge: CompactionLimit
    forecast: Forecast
    verdict: Verdict
    model: str
    client_version: str
    observations: tuple[Observation, ...] = ()  # of where the client compacted, here


def of_moment(moment: Moment, state: State, settings: Settings) -> View:
    """The window at one hook, the payload's own result counted in; the state learns from it."""
    pending = moment.pending_chars
    return _of(moment.tail, moment.folder, state, settings, moment.now_ms, pending)


def of_transcript(state: State, settings: Settings, now_ms: int, folder: str = "") -> View:
    """The window as its transcript stands; `folder` where hooks have left their notes."""
    end = tail.look(state.transcript, bool(state.agent_id), state.density or mark.CHARS_PER_TOKEN)
    return _of(end, folder, state, settings, now_ms, 0.0)


def measure(state: State, settings: Settings, now_ms: int, folder: str) -> None:
    """The same for the state alone, by who is no hook: that one was here is not his to say."""
    heard_ms = state.at_ms
    of_transcript(state, settings, now_ms, folder)
    state.at_ms = heard_ms


def _of(
    end: Tail, folder: str, state: State, settings: Settings, now_ms: int, pending: float
) -> View:
    past = history.of(state.transcript, sidechain=bool(state.agent_id))
    _learn(state, end, past, folder)
    used = end.used_tokens(state.density, state.overhead_tokens, pending)
    told = _observed(state, past)
    edge = _edge(state, past, used, told)
    reading = _reading(end, folder, state, edge, used, now_ms)
    state.window_tokens, state.edge_tokens = edge.window_tokens, edge.edge_tokens
    state.edge_kind, state.edge_source = edge.kind, edge.source
    state.used_tokens, state.basis = reading.used_tokens, reading.basis
    state.estimated, state.at_ms = reading.estimated, now_ms
    ahead = velocity.forecast(past.levels, past.times_ms, reading.used_tokens, edge.edge_tokens)
    state.velocity, state.pace_ms = ahead.velocity_tokens_per_op or 0.0, ahead.pace_ms or 0.0
    state.growth = ahead.growth or 0.0
    return View(
        reading,
        edge,
        ahead,
        guard.judge(past.levels, reading.used_tokens, edge.edge_tokens, Thresholds.of(settings)),
        state.model,
        state.client_version,
        told,
    )


def _learn(state: State, end: Tail, past: History, folder: str) -> None:
    """Model, density and overhead, as far as this transcript tells them."""
    state.model = inert(end.model or past.model, 200) or state.model
    state.client_version = inert(end.version or past.version, 200) or state.client_version
    state.density = past.density or state.density or mark.CHARS_PER_TOKEN
    noted = _status_line(folder)
    window = noted.get("window_tokens")
    state.stated_window = window if isinstance(window, int) else state.stated_window
    if not state.overhead_tokens and end.basis != "none":
        state.overhead_tokens = history.overhead_tokens(
            state.transcript, sidechain=bool(state.agent_id), density=state.density
        )


def _observed(state: State, past: History) -> tuple[Observation, ...]:
    """Automatic compactions of this window since its switches were last turned."""
    turned = client_switches.from_json(state.switches)
    return tuple(
        Observation(
            observed_limits.conditions(
                one.model or state.model, one.boundary.version or state.client_version, turned
            ),
            one.boundary.pre_tokens or 0,
            one.boundary.uuid,
            int((one.boundary.epoch_s or 0) * 1000),
        )
        for one in past.compactions
        if _tells_limit(one, state.switches_ms)
    )


def _tells_limit(one: Compaction, since_ms: int) -> bool:
    """An idle compaction comes below the limit, 54 minutes after the last answer."""
    boundary = one.boundary
    known = bool(boundary.pre_tokens and boundary.uuid) and boundary.trigger == "auto"
    return known and one.waited_ms < IDLE_MS and (boundary.epoch_s or 0) * 1000 >= since_ms


def _edge(state: State, past: History, used: int, told: tuple[Observation, ...]) -> CompactionLimit:
    turned: LimitSettings = client_switches.from_json(state.switches)
    wanted = observed_limits.conditions(state.model, state.client_version, turned)
    return client_edge.find(
        state.model,
        state.client_version,
        turned,
        used_tokens=_most(used, past.totals),
        stated_window=None if state.agent_id else state.stated_window,
        seen_pre_tokens=observed_limits.load().pre_tokens(wanted, told),
        passed_tokens=sorted(past.totals)[-2] if len(past.totals) > 1 else 0,
    )


def _most(used: int, totals: Sequence[int]) -> int:
    """At its fullest so far. A lone total above every window there is was told wrong: believed, it
    would make all that follow look small."""
    above = [total for total in totals if total > models.LARGE]
    believed = totals if len(above) > 1 else [total for total in totals if total <= models.LARGE]
    return max([used, *believed])


def _reading(
    end: Tail, folder: str, state: State, edge: CompactionLimit, used: int, now_ms: int
) -> Reading:
    if is_compacting(end, state, now_ms):
        return Reading(used, now_ms, "compacting", estimated=True)
    if end.basis != "none":
        return Reading(used, now_ms, end.basis, estimated=not end.states_tokens())
    long = end.size and not end.whole  # 4 MB without an answer: their bytes tell nothing
    if long and state.used_tokens:
        return Reading(state.used_tokens, now_ms, "earlier", estimated=True)
    lines = spool.lines(folder) if folder else []
    return (
        fallback.from_status_line(_status_line(folder), now_ms)
        or fallback.from_bytes(0 if long else end.size, edge.edge_tokens, now_ms)
        or fallback.from_weights(lines, edge.edge_tokens, now_ms)
        or Reading(0, now_ms, "none", estimated=True)
    )


def is_compacting(end: Tail, state: State, now_ms: int) -> bool:
    """Between PreCompact and the boundary the newest answer is the one that was there before."""
    return (
        bool(state.compacting_answer)
        and end.basis == "usage"
        and end.answer_id == state.compacting_answer
        and 0 <= now_ms - state.compacting_ms < COMPACTING_MS
    )


def _status_line(folder: str) -> dict[str, Any]:
    """What the status line was told last, in the session's main window."""
    if not folder:
        return {}
    return scan.parse_object(places.read_small(f"{folder}/statusline.json"))
