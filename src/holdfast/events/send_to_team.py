"""Send to the team server after a turn, in a process that nobody waits for, and exit.

The hook starts it at Stop and SessionEnd, and once a minute during a long turn. So a quiet session
has sent all it knows, and nothing stays running.
"""

from __future__ import annotations

import signal
import time

from holdfast.settings import load as settings_load

AT_MOST_SECONDS = 30  # whatever happens
LATE_SECONDS = 0.5  # the client writes the last lines of a turn a moment after its end
PATIENCE_SECONDS = 5.0  # another may be sending, and have passed us by


def send() -> None:
    signal.alarm(AT_MOST_SECONDS)
    if not settings_load.load().word("server"):
        return
    from holdfast.hub.team import connection, forward

    now_ms = connection.now_ms()
    if connection.health(connection.address()).is_down(now_ms):
        return
    time.sleep(LATE_SECONDS)
    forward.forward_from_hook(now_ms, patience=PATIENCE_SECONDS)
