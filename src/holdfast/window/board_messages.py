"""Messages of other agents for this one, as printed: fenced, a few at a time, oldest first."""

from __future__ import annotations

from holdfast.text import fence
from holdfast.window import outbox_delivery
from holdfast.wire import log

ORIGIN = "other agents, by the board"


def turn(folder: str, transcript: str, now_ms: int, most: int = outbox_delivery.AT_ONCE) -> str:
    """The next messages. Called under the window's lock. A message that cannot be recorded as
    delivered is not delivered."""
    try:
        lines = outbox_delivery.turn(folder, transcript, now_ms, most)
    except OSError as slip:
        log.add("WARN", "outbox", f"{folder}: nothing said: {slip}")
        return ""
    if not lines:
        return ""
    told = [fence.line(line) for line in lines]
    return "\n".join([fence.opening(ORIGIN), *told, fence.closing()])
