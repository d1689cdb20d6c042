"""Messages to a kind of agent (`frontend`) rather than to one by its id: one of those at work on
this machine is given it, and is told as any other.

Of two that hand out at once, one does, under a lock; the outboxes show who holds what, and on the
board a message waits until a hook has said it. So one who dies anywhere here leaves it to be
handed out again, and nobody hears it twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.window import handing, outbox
from holdfast.window.outbox import WAITING, Entry
from holdfast.window.state import WindowBusy
from holdfast.wire import log
from holdfast.work.alone import alone
from holdfast.work.heard_by import Listener, with_outbox

PATIENCE_SECONDS = 2.0
Wanted = tuple[Entry, Sequence[Listener]]  # a message, and who could hear it


def give(wanted: Sequence[Wanted], now_ms: int) -> bool:
    """Each to one of those it is for; whether nobody here has to be given any later."""
    possible = [(entry, whom) for entry, whom in wanted if whom]
    if not possible:
        return True
    try:
        with alone("handing.lock", PATIENCE_SECONDS) as is_alone:
            for entry, whom in possible if is_alone else ():
                _give(entry, whom, now_ms)
    except (WindowBusy, OSError) as slip:
        log.add("WARN", "board", f"to be handed out later: {slip}")
    return False  # until it was said, he who has it may end, and another is to have it


def _give(entry: Entry, whom: Sequence[Listener], now_ms: int) -> None:
    """Unless somebody has it who can still hear it. Taken back from who has ended before it is
    given to another: in between the board alone has it."""
    able = {one.folder for one in whom}
    for holder in with_outbox():
        held = {one.id: one.state for one in outbox.load(holder.folder).entries}
        held |= {one.id: one.state for one in outbox.done(holder.folder)}
        if entry.id not in held:
            continue
        if holder.folder in able or held[entry.id] != WAITING:
            return
        if handing.take_back(holder.folder, {entry.id}):
            return  # it was said at this very moment
    handing.hand(whom[0].folder, [entry], now_ms)
