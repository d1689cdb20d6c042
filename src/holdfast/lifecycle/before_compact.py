"""Before a compaction: from here until the boundary is written, old numbers mean nothing.

Prints nothing: whatever stood on stdout would become an instruction to the summariser.
"""

from __future__ import annotations

from holdfast.hook.entry import Moment
from holdfast.lifecycle import noting
from holdfast.window import arm
from holdfast.window.state import held
from holdfast.wire import log, mark, scan


def tell(moment: Moment) -> str:
    with held(moment.folder) as state:
        noting.note(state, moment)
        state.compacting_ms = moment.now_ms
        state.owed = ""  # it spoke of the window that ends here
        state.velocity = state.pace_ms = 0.0
        state.compacting_answer = moment.tail.answer_id
        mark.arm(moment.folder, arm.wake_next(state))
    trigger = scan.text_of(moment.payload, "trigger") or "unknown"
    log.add("INFO", noting.place(state), f"compaction ({trigger}) at {moment.line.used:,} tokens")
    return ""
