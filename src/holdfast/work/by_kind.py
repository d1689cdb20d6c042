"""Messages to a kind of agent (`frontend`) rather than to one by its id: one of those at work on
this machine is given it, and is told as any other.

Of two that hand out at once, one does, under a lock; the outboxes show who holds what, and on the
board a message waits until a hook has said it. So one who dies anywhere here leaves it to be
handed out again, and nobody hears it twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from holdfast.checkpoint import lock
from holdfast.window import handing, outbox
from holdfast.window.outbox import WAITING, Entry
from holdfast.window.state import WindowBusy
from holdfast.wire import log, places
from holdfast.work.heard_by import Listener, with_outbox

PATIENCE_SECONDS = 2.0
Wanted = tuple[Entry, Sequence[Listener]]  # a message, and who could hear it


def give(wanted: Sequence[Wanted], now_ms: int) -> bool:
    """Each to one of those it is for; whether nobody here has to be given any later."""
    possible = [(entry, whom) for entry, whom in wanted if whom]
    if not possible:
        return True
    try:
        with _alone() as is_alone:
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


@contextmanager
def _alone() -> Iterator[bool]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(os.path.join(places.home(), "handing.lock"), flags, 0o600)  # noqa: PTH118
    try:
        yield lock.acquired(fd, time.monotonic() + PATIENCE_SECONDS)
    finally:
        os.close(fd)
