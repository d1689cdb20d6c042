"""Compress older topics after a tool call that had nothing to report: nothing waits for it."""

from __future__ import annotations

from holdfast.events import alerting, record_session
from holdfast.hook.observation import Moment
from holdfast.record import storage
from holdfast.segment.tiers import roll
from holdfast.window import monitor
from holdfast.window import state as window_state
from holdfast.wire import log
from holdfast.wire.errors import describe


def in_passing(moment: Moment) -> None:
    """Compress what is due. Errors are logged: a session does not depend on it."""
    state = window_state.load(moment.folder)
    if not state.session_id or not state.transcript:
        return
    place = record_session.log_name(state)
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
            force=monitor.is_forced(),
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
        alerting.owe(moment, f"Holdfast: {report.line}")
