"""Judge a window under its lock: read it, compare it with the last alerts, report each level once.

What is said is noted before it is printed: a hook that dies in between stays silent, and the
next crossing speaks; the other order would say things twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.events import printed_brief, record_session
from holdfast.hook.observation import Moment
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.window import alert_texts, audit, make_mark, monitor, observed_limits, view
from holdfast.window.audit import PRESSURE
from holdfast.window.guard import Crossing, cross
from holdfast.window.state import State, WindowBusy, lock_state
from holdfast.window.view import View
from holdfast.wire import log, mark, places, spool

if TYPE_CHECKING:
    from holdfast.checkpoint.write import SavedCheckpoint  # loaded only by a hook that keeps one

# A hook waits two seconds for its turn; a longer delay means that the clock was set back.
LATE_MS = 5_000


@dataclass(frozen=True, slots=True)
class News:
    to_model: str = ""
    to_user: str = ""
    compresses: bool = False  # nothing to report, and a look for old topics is due


def judge(moment: Moment, *, shown_to_user: bool = False, may_compress: bool = False) -> News:
    """Judge the moment. `shown_to_user`: this hook's output is displayed; `may_compress`: the hook
    runs in the background, so it may compress older topics."""
    try:
        with lock_state(moment.folder) as state:
            return _judge(moment, state, shown_to_user, may_compress)
    except WindowBusy:
        return News()  # a parallel call is judging this very window


def pay(moment: Moment) -> str:
    """What the user has not been shown yet; returned once."""
    try:
        with lock_state(moment.folder) as state:
            owed, state.owed = state.owed, ""
            state.stop_guard = make_mark.stop_guard(settings_load.load(state.project))
            _rearm(moment.folder, state)
            return owed
    except WindowBusy:
        return ""


def owe(moment: Moment, text: str) -> None:
    """Keep a line for the user until the next hook whose output is shown; the log has it too."""
    try:
        with lock_state(moment.folder) as state:
            state.owed = "\n".join(filter(None, (state.owed, text)))
            _rearm(moment.folder, state)
    except (WindowBusy, OSError):
        return


def _rearm(folder: str, state: State) -> None:
    armed = mark.load(folder)
    if armed is not None:
        armed.owed, armed.stop = make_mark.owed_to(state), make_mark.stop_at(state)
        make_mark.put(folder, state, armed)


def _judge(moment: Moment, state: State, shown_to_user: bool, may_compress: bool) -> News:
    if 0 < state.at_ms - moment.now_ms < LATE_MS:
        return News()  # a hook that started later has judged already
    record_session.record(state, moment)
    settings = settings_load.load(state.project)
    seen = view.of_moment(moment, state, settings)
    view.remember(state, seen)
    state.checkpoint_tokens = min(state.checkpoint_tokens, state.used_tokens)
    state.stop_guard = make_mark.stop_guard(settings)
    state.team = int(bool(settings.word("server")))
    if seen.reading.basis == "compacting":
        make_mark.put(moment.folder, state, make_mark.wake_next(state))
        return News()
    observed_limits.add(seen.observations)
    known = seen.reading.basis in ("usage", "boundary")
    crossing = cross(state, seen.verdict, moment.now_ms, settings, may_free=known)
    lines = spool.lines(moment.folder)
    crossing = _apply_monitor(crossing, state, seen, lines, settings)
    kept = _take_if_due(crossing, state, seen, moment)
    news = News() if _is_over(seen) else _news(crossing, seen, state, kept)
    _account(crossing, state, seen, news, kept)
    owed = news.to_user or state.owed
    state.owed = "" if shown_to_user else owed
    if shown_to_user:
        owed = "\n".join(filter(None, (printed_brief.restored_line(state.restored), owed)))
        state.restored = {}
    second = _second_brief(state)
    parts = (news.to_model, second, _messages(moment, state))
    to_model = "\n".join(filter(None, parts))
    compresses = (
        may_compress
        and not to_model
        and monitor.compression_due(state, seen.verdict.used_ratio, lines, settings)
    )
    state.rolled_ms = moment.now_ms if compresses else state.rolled_ms
    size = spool.rotate(moment.folder)
    armed = make_mark.mark_for(state, seen.verdict, lines, size, settings)
    if second:  # killed before the state is saved, this hook has told nobody: the next one looks
        armed.above, armed.owed = make_mark.WAKE_NEXT, armed.owed | mark.OWED_TO_MODEL
    make_mark.put(moment.folder, state, armed)
    return News(to_model, owed if shown_to_user else "", compresses)


def _second_brief(state: State) -> str:
    """What Claude Code's summary left out, reported once by the first hook that can."""
    if state.agent_id:
        return ""  # an asynchronous hook of a subagent would tell its parent
    text, state.second_brief = state.second_brief, ""
    if text:
        from holdfast.budget.compartments import tokens_of, units

        tokens, window = tokens_of(units(text)), state.compactions + 1
        words = f"second brief of about {tokens:,} tokens restored in window {window}"
        log.add("INFO", record_session.log_name(state), words)
    return text


def _messages(moment: Moment, state: State) -> str:
    """Messages of other agents for this one; a subagent gets its own in `agent_stop`."""
    if state.agent_id or not places.has_outbox(moment.folder):
        return ""
    from holdfast.window import outbox

    return outbox.messages_for_turn(moment.folder, state.transcript, moment.now_ms)


def _apply_monitor(
    crossing: Crossing, state: State, seen: View, lines: list[spool.SpoolLine], settings: Settings
) -> Crossing:
    due = monitor.due(state, seen.verdict.used_ratio, lines, settings)
    if crossing.checkpoint or not due:
        return crossing
    return Crossing(crossing.zone, crossing.alert, "monitor")


def _is_over(seen: View) -> bool:
    """Past the limit Claude Code compacts before its next request: what is printed now would be
    read in the new window, where it is false."""
    return seen.edge.is_passed(seen.reading.used_tokens)


def _news(crossing: Crossing, seen: View, state: State, kept: SavedCheckpoint | None) -> News:
    """What to report. It includes a checkpoint that was due and could not be saved."""
    if not crossing.speaks:
        return News()
    window, saved = state.compactions + 1, kept is not None or not crossing.checkpoint
    facts = (crossing, seen.verdict, seen.forecast, seen.reading, seen.edge, window)
    ago = 0 if crossing.checkpoint else max(1, (state.at_ms - state.checkpoint_ms) // 1000)
    return News(*alert_texts.compose(*facts, saved=saved, seconds_ago=ago))


def _account(
    crossing: Crossing, state: State, seen: View, news: News, kept: SavedCheckpoint | None
) -> None:
    """Write the log and the audit log."""
    saved = _describe_save(crossing, kept)
    if crossing.zone is None and crossing.alert is None and not saved:
        return
    level = "ALERT" if crossing.speaks else "INFO"
    log.add(level, record_session.log_name(state), _line(crossing, seen, saved))
    if crossing.alert is not None:
        audit.add(_event(crossing, state, seen, news, saved))


def _take_if_due(
    crossing: Crossing, state: State, seen: View, moment: Moment
) -> SavedCheckpoint | None:
    """Take the checkpoint that is due."""
    if not crossing.checkpoint:
        return None
    from holdfast.events import take_checkpoint  # only a hook that keeps one pays for it

    return take_checkpoint.take(
        state, moment.folder, crossing.checkpoint, seen.reading.at_ms, is_late=moment.is_late
    )


def _describe_save(crossing: Crossing, kept: SavedCheckpoint | None) -> str:
    """The result of the checkpoint that was due, in words."""
    if not crossing.checkpoint:
        return ""
    if kept is None:
        return f"no checkpoint could be saved ({crossing.checkpoint})"
    saved = "was saved already" if kept.reused else "saved"
    return f"checkpoint {kept.id} {saved} ({crossing.checkpoint})"


def _line(crossing: Crossing, seen: View, saved: str) -> str:
    reading = seen.reading
    share = f"{alert_texts.estimate_mark(reading.estimated)}{seen.verdict.used_ratio:.1%}"
    parts = [
        f"{share} used ({alert_texts.format_tokens(reading.used_tokens, reading.estimated)} tokens)"
    ]
    if crossing.zone is not None:
        parts.append(f"zone {crossing.zone.name.lower()}")
    if crossing.alert is not None:
        parts.append(f"alert {crossing.alert.name.lower()}")
    if seen.verdict.fast_climb:
        parts.append("climbing fast")
    if saved:
        parts.append(saved)
    return ", ".join(parts)


def _event(
    crossing: Crossing, state: State, seen: View, news: News, saved: str
) -> dict[str, object]:
    return {
        "event": PRESSURE,
        "at_ms": seen.reading.at_ms,
        "session_id": state.session_id,
        "agent_id": state.agent_id,
        "level": crossing.alert.name.lower() if crossing.alert else "",
        "zone": seen.verdict.zone.name.lower(),
        "used_tokens": seen.reading.used_tokens,
        "edge_tokens": seen.edge.edge_tokens,
        "used_ratio": round(seen.verdict.used_ratio, 4),
        "estimated": seen.reading.estimated,
        "velocity_tokens_per_op": seen.forecast.velocity_tokens_per_op,
        "ops_left": seen.forecast.ops_left,
        "minutes_left": seen.forecast.minutes_left,
        "done": [*(["told the model"] if news.to_model else []), *([saved] if saved else [])],
    }
