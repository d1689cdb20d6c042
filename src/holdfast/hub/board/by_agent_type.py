"""Messages to a kind of agent (`frontend`) rather than to one by its id: one of those at work on
this machine is given it, and is told as any other.

Of two that hand out at once, one does, under a lock; the outboxes show who holds what, and on the
board a message waits until a hook has said it. So one who dies anywhere here leaves it to be
handed out again, and nobody hears it twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.files.lock import hold_in_home
from holdfast.hub.board.local_agents import Listener, with_outbox
from holdfast.hub.board.message_text import entry_of
from holdfast.hub.store.rows import Row
from holdfast.window import outbox, outbox_delivery
from holdfast.window.outbox import WAITING
from holdfast.window.state import WindowBusy
from holdfast.wire import log

PATIENCE_SECONDS = 2.0
Wanted = tuple[Row, Sequence[Listener]]  # a message, and who could hear it
Holdings = list[tuple[Listener, dict[str, str]]]  # whose outbox holds what, in which state


def give(wanted: Sequence[Wanted], now_ms: int) -> bool:
    """Each to one of those it is for; whether nobody here has to be given any later."""
    if not wanted:
        return True
    try:
        with hold_in_home("handing.lock", PATIENCE_SECONDS) as is_alone:
            holdings = [(one, _held(one.folder)) for one in with_outbox()] if is_alone else []
            for row, whom in wanted if is_alone else ():
                _give(row, whom, holdings, now_ms)
    except (WindowBusy, OSError) as slip:
        log.add("WARN", "board", f"to be handed out later: {slip}")
    return False  # until it was said, he who has it may end, and another is to have it


def _held(folder: str) -> dict[str, str]:
    held = {one.id: one.state for one in outbox.load(folder).entries}
    return held | {one.id: one.state for one in outbox.done(folder)}


def _give(row: Row, whom: Sequence[Listener], holdings: Holdings, now_ms: int) -> None:
    """Unless somebody has it who can still hear it. Taken back from who has ended before it is
    given to another: in between the board alone has it."""
    able = {one.folder for one in whom}
    for holder, held in holdings:
        if row["id"] not in held:
            continue
        if holder.folder in able or held[row["id"]] != WAITING:
            return
        if outbox_delivery.take_back(holder.folder, {row["id"]}):
            return  # it was said since we looked
    outbox_delivery.hand(whom[0].folder, [entry_of(row)], now_ms)
