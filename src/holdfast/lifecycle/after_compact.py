"""After a compaction: counted. The boundary is not in the file yet, so there is no reading."""

from __future__ import annotations

from holdfast.hook.entry import Moment
from holdfast.lifecycle import noting
from holdfast.window import arm
from holdfast.window.state import held
from holdfast.wire import log, mark


def tell(moment: Moment) -> str:
    with held(moment.folder) as state:
        noting.note(state, moment)
        state.compactions += 1
        mark.arm(moment.folder, arm.wake_next(state))
    log.add("INFO", noting.place(state), f"compacted ({state.compactions} in this window)")
    return ""
