"""After a compaction: the second half of a brief that is too long for one output.

The client runs the hooks of an event at the same time. This one composes the same brief as
`session_start`, from the same record, and changes no state: it only leaves what it printed.
"""

from __future__ import annotations

from holdfast.brief.compose import halves_of
from holdfast.client import hook_outputs
from holdfast.events import window_brief
from holdfast.hook.observation import Moment
from holdfast.record import storage
from holdfast.window import state as window_state
from holdfast.wire import log, places, scan
from holdfast.wire.errors import describe

FILE = "brief-2.txt"


def tell(moment: Moment) -> str:
    if scan.text_of(moment.payload, "source") != "compact":
        return ""
    text = ""
    state = window_state.load(moment.folder)
    try:
        if state.transcript:
            record = storage.read_on(state, moment.folder, moment.is_late)
            brief = window_brief.compose_brief(state, moment.folder, record, compacting=True)
            text = "".join(halves_of(brief)[1:])
        places.replace_whole(f"{moment.folder}/{FILE}", text.encode("utf-8", "replace"))
    except Exception as error:
        log.add("ERROR", state.session_id[:8], f"no second half of the brief: {describe(error)}")
    return hook_outputs.add_context("SessionStart", to_model=text)
