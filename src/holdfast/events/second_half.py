"""After a compaction: the second half of a brief that is too long for one output.

The client runs the hooks of an event at the same time. This one composes the same brief as
`session_start`, from the same record, and changes no state: it only leaves what it printed.
"""

from __future__ import annotations

from holdfast.brief.compose import halves_of
from holdfast.budget.compartments import tokens_of, units
from holdfast.client import hook_outputs
from holdfast.events import printed_brief, record_session, window_brief
from holdfast.hook.observation import Moment
from holdfast.record import storage
from holdfast.window import state as window_state
from holdfast.window.state import State
from holdfast.wire import log, scan
from holdfast.wire.errors import describe


def tell(moment: Moment) -> str:
    if scan.text_of(moment.payload, "source") != "compact":
        return ""
    state = window_state.load(moment.folder)
    try:
        record_session.record(state, moment)
        text = _second_half(state, moment)
    except Exception as error:
        words = f"no second half of the brief: {describe(error)}"
        log.add("ERROR", record_session.log_name(state), words)
        return ""
    if text:
        words = f"second half of about {tokens_of(units(text)):,} tokens restored"
        log.add("INFO", record_session.log_name(state), words)
    return hook_outputs.add_context("SessionStart", to_model=text)


def _second_half(state: State, moment: Moment) -> str:
    record = storage.read_on(state, moment.folder, moment.is_late)
    brief = window_brief.compose_brief(state, moment.folder, record, compacting=True)
    text = "".join(halves_of(brief)[1:])
    printed_brief.leave_second(moment.folder, state.compacting_ms, text)
    return text
