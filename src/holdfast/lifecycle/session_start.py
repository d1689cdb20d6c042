"""At the start of a session, and after a compaction: note who, where, and with which switches."""

from __future__ import annotations

from holdfast.hook.entry import Moment
from holdfast.lifecycle import noting
from holdfast.window import arm
from holdfast.window.state import held
from holdfast.wire import log, mark, scan


def tell(moment: Moment) -> str:
    source = scan.text_of(moment.payload, "source") or "unknown"
    with held(moment.folder) as state:
        noting.note(state, moment)
        if source != "compact":
            state.started_ms, state.ended_ms = moment.now_ms, 0
        mark.arm(moment.folder, arm.wake_next(state))
    log.add("INFO", noting.place(state), f"session {source}, model {state.model or 'unknown'}")
    return ""
