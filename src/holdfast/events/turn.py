"""During a turn: the user's prompt, a tool call, the end of the turn, and the end of a subagent.

Each judges its window under the window's lock: read it, compare it with the last alerts, report
each level once. What is said is noted before it is printed: a hook that dies in between stays
silent, and the next crossing speaks; the other order would say things twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.client import hook_outputs
from holdfast.events import dispatch
from holdfast.hook.observation import Moment
from holdfast.session import printed_brief
from holdfast.settings import load as settings_load
from holdfast.window import alert_texts, audit, guard, make_mark, measurement, observed_limits
from holdfast.window.guard import Crossing, estimate_mark
from holdfast.window.measurement import View
from holdfast.window.state import State, WindowBusy, lock_state
from holdfast.wire import log, mark, places, scan, spool
from holdfast.wire.errors import describe

if TYPE_CHECKING:
    from holdfast.checkpoint.write import SavedCheckpoint  # loaded only by a hook that keeps one

# A hook waits two seconds for its turn; a longer delay means that the clock was set back.
LATE_MS = 5_000
# A subagent is told this once: as many as the client takes from a hook, 10,000 UTF-16 units.
MOST_AT_END = 20


def tell_prompt(moment: Moment) -> str:
    """At the user's prompt (synchronous): report to model and user, and deliver what is pending."""
    news = _judge(moment, shown_to_user=True)
    return hook_outputs.add_context(moment.line.event, to_model=news.to_model, to_user=news.to_user)


def tell_call(moment: Moment) -> str:
    """After a tool call (asynchronous): tell the model now, the user by the next hook that is
    shown. For a subagent nothing is printed: it would go to its parent."""
    news = _judge(moment)
    to_model = "" if moment.payload.get("agent_id") else news.to_model
    if not to_model and settings_load.load().word("server"):
        _forward(moment.now_ms)  # only if there is nothing to print, which must not wait
    if news.compresses:
        _compress(moment)
    return hook_outputs.add_context(moment.line.event, to_model=to_model)


def tell_stop(moment: Moment) -> str:
    """At the end of a turn: tell the user what the model has read; the stop guard may object once.
    Nothing else is printed for the model: any context here would start the turn again."""
    owed = _take_owed(moment)
    objection = ""
    if moment.payload.get("stop_hook_active") is False and not moment.payload.get("agent_id"):
        from holdfast.events import stop_guard  # never twice in a row, and not for a subagent

        objection = stop_guard.object_to(moment)
    if objection:
        return hook_outputs.block_stop(objection, to_user=owed)
    return hook_outputs.add_context("Stop", to_user=owed)


def tell_agent_stop(payload: dict[str, Any], folder: str, now_ms: int) -> str:
    """When a subagent ends: messages to its name make it continue once. Its stop is the only moment
    at which a hook reaches it and nobody else; at its start nobody knows its id."""
    if payload.get("stop_hook_active") is not False:
        return ""  # it went on once for us, or for another
    from holdfast.window import outbox

    agent_id = scan.text_of(payload, "agent_id")
    path = places.transcript(scan.text_of(payload, "transcript_path"), agent_id)
    try:
        with lock_state(folder) as state:
            path = state.transcript or path
            messages = outbox.messages_for_turn(folder, path, now_ms, MOST_AT_END)
    except WindowBusy:
        return ""
    return hook_outputs.add_context("SubagentStop", to_model=messages)


def _forward(now_ms: int) -> None:
    from holdfast.hub.team import connection

    if connection.is_due(now_ms):
        from holdfast.hub.team import forward

        forward.forward_from_hook(now_ms)


def _take_owed(moment: Moment) -> str:
    """What the user has not been shown yet; returned once."""
    try:
        with lock_state(moment.folder) as state:
            owed, state.owed = state.owed, ""
            state.stop_guard = make_mark.stop_guard(settings_load.load(state.project))
            make_mark.rearm(moment.folder, state)
            return owed
    except WindowBusy:
        return ""


def _compress(moment: Moment) -> None:
    """Compress older topics that are due. Errors are logged: a session does not depend on it."""
    from holdfast.record import storage  # every tenth turn of a window that is filling
    from holdfast.segment.tiers import roll
    from holdfast.window import state as window_state

    state = window_state.load(moment.folder)
    if not state.session_id or not state.transcript:
        return
    place = dispatch.log_name(state)
    try:
        record = storage.read_on(state, moment.folder, moment.is_late)
        if record.unread:  # the segments would end before the session does
            return
        report = roll(
            state.transcript,
            session_id=state.session_id,
            record=record,
            project=state.project,
            used_ratio=state.used_tokens / state.edge_tokens if state.edge_tokens else 0.0,
            now_ms=moment.now_ms,
            force=guard.is_forced(),
        )
    except Exception as error:
        log.add("ERROR", place, f"segments were not compressed: {describe(error)}")
        return
    for text in report.errors:
        log.add("WARN", place, f"segments: {text}")
    if report.pruned:
        log.add("INFO", place, f"segments: {report.pruned} pruned to their summary")
    if report.line:
        log.add("INFO", place, report.line)
        _owe(moment, f"Holdfast: {report.line}")


def _owe(moment: Moment, text: str) -> None:
    """Keep a line for the user until the next hook whose output is shown; the log has it too."""
    try:
        with lock_state(moment.folder) as state:
            state.owed = "\n".join(filter(None, (state.owed, text)))
            make_mark.rearm(moment.folder, state)
    except (WindowBusy, OSError):
        return


@dataclass(frozen=True, slots=True)
class _News:
    to_model: str = ""
    to_user: str = ""
    compresses: bool = False  # nothing to report, and a look for old topics is due


def _judge(moment: Moment, *, shown_to_user: bool = False) -> _News:
    """Judge the moment. `shown_to_user`: somebody waits for this hook, so it compresses nothing."""
    try:
        with lock_state(moment.folder) as state:
            return _judge_locked(moment, state, shown_to_user)
    except WindowBusy:
        return _News()  # a parallel call is judging this very window


def _judge_locked(moment: Moment, state: State, shown_to_user: bool) -> _News:
    if 0 < state.at_ms - moment.now_ms < LATE_MS:
        return _News()  # a hook that started later has judged already
    dispatch.record_session(state, moment)
    settings = settings_load.load(state.project)
    seen = measurement.of_moment(moment, state, settings)
    measurement.remember(state, seen)
    state.checkpoint_tokens = min(state.checkpoint_tokens, state.used_tokens)
    state.stop_guard = make_mark.stop_guard(settings)
    state.team = int(bool(settings.word("server")))
    if seen.reading.basis == "compacting":
        make_mark.put(moment.folder, state, make_mark.wake_next(state))
        return _News()
    observed_limits.add(seen.observations)
    known = seen.reading.basis in ("usage", "boundary")
    crossing = guard.cross(state, seen.verdict, moment.now_ms, settings, may_free=known)
    used_ratio, lines = seen.verdict.used_ratio, spool.lines(moment.folder)
    if guard.monitor_due(state, used_ratio, lines, settings) and not crossing.checkpoint:
        crossing = crossing._replace(checkpoint="monitor")
    kept = _take_if_due(crossing, state, seen, moment)
    news = _report(crossing, seen, state, kept)
    _account(crossing, state, seen, news, kept)
    owed = news.to_user or state.owed
    state.owed = "" if shown_to_user else owed
    if shown_to_user:
        owed = "\n".join(filter(None, (printed_brief.restored_line(state.restored), owed)))
        state.restored = {}
    second = _second_brief(state)
    to_model = "\n".join(filter(None, (news.to_model, second, _messages(moment, state))))
    compresses = not (shown_to_user or to_model)
    compresses = compresses and guard.compression_due(state, used_ratio, lines, settings)
    state.rolled_ms = moment.now_ms if compresses else state.rolled_ms
    size = spool.rotate(moment.folder)
    armed = make_mark.mark_for(state, seen.verdict, lines, size, settings)
    if second:  # killed before the state is saved, this hook has told nobody: the next one looks
        armed.above, armed.owed = make_mark.WAKE_NEXT, armed.owed | mark.OWED_TO_MODEL
    make_mark.put(moment.folder, state, armed)
    return _News(to_model, owed if shown_to_user else "", compresses)


def _second_brief(state: State) -> str:
    """What Claude Code's summary left out, reported once by the first hook that can."""
    if state.agent_id:
        return ""  # an asynchronous hook of a subagent would tell its parent
    text, state.second_brief = state.second_brief, ""
    if text:
        from holdfast.budget.compartments import tokens_of, units

        tokens, window = tokens_of(units(text)), state.compactions + 1
        words = f"second brief of about {tokens:,} tokens restored in window {window}"
        log.add("INFO", dispatch.log_name(state), words)
    return text


def _messages(moment: Moment, state: State) -> str:
    """Messages of other agents for this one; a subagent gets its own when it stops."""
    if state.agent_id or not places.has_outbox(moment.folder):
        return ""
    from holdfast.window import outbox

    return outbox.messages_for_turn(moment.folder, state.transcript, moment.now_ms)


def _report(crossing: Crossing, seen: View, state: State, kept: SavedCheckpoint | None) -> _News:
    """What to report, also a checkpoint that could not be saved. Past the limit nothing: it would
    be read in the new window, where it is false."""
    if not crossing.speaks or seen.edge.is_passed(seen.reading.used_tokens):
        return _News()
    window, saved = state.compactions + 1, kept is not None or not crossing.checkpoint
    facts = (crossing, seen.verdict, seen.forecast, seen.reading, seen.edge, window)
    ago = 0 if crossing.checkpoint else max(1, (state.at_ms - state.checkpoint_ms) // 1000)
    return _News(*alert_texts.compose(*facts, saved=saved, seconds_ago=ago))


def _account(
    crossing: Crossing, state: State, seen: View, news: _News, kept: SavedCheckpoint | None
) -> None:
    saved = _describe_save(crossing, kept)
    if crossing.zone is None and crossing.alert is None and not saved:
        return
    level = "ALERT" if crossing.speaks else "INFO"
    log.add(level, dispatch.log_name(state), _line(crossing, seen, saved))
    if crossing.alert is not None:
        audit.add(_event(crossing, state, seen, news, saved))


def _take_if_due(
    crossing: Crossing, state: State, seen: View, moment: Moment
) -> SavedCheckpoint | None:
    if not crossing.checkpoint:
        return None
    from holdfast.session import take_checkpoint  # only a hook that keeps one pays for it

    return take_checkpoint.take(
        state, moment.folder, crossing.checkpoint, seen.reading.at_ms, is_late=moment.is_late
    )


def _describe_save(crossing: Crossing, kept: SavedCheckpoint | None) -> str:
    if not crossing.checkpoint:
        return ""
    if kept is None:
        return f"no checkpoint could be saved ({crossing.checkpoint})"
    saved = "was saved already" if kept.reused else "saved"
    return f"checkpoint {kept.id} {saved} ({crossing.checkpoint})"


def _line(crossing: Crossing, seen: View, saved: str) -> str:
    reading = seen.reading
    share = f"{estimate_mark(reading.estimated)}{seen.verdict.used_ratio:.1%}"
    tokens = alert_texts.format_tokens(reading.used_tokens, reading.estimated)
    parts = [f"{share} used ({tokens} tokens)"]
    if crossing.zone is not None:
        parts.append(f"zone {crossing.zone.name.lower()}")
    if crossing.alert is not None:
        parts.append(f"alert {crossing.alert.name.lower()}")
    if seen.verdict.fast_climb:
        parts.append("climbing fast")
    return ", ".join(filter(None, (*parts, saved)))


def _event(
    crossing: Crossing, state: State, seen: View, news: _News, saved: str
) -> dict[str, object]:
    return {
        "event": audit.PRESSURE,
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
