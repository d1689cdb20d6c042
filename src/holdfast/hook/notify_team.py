"""Tell the team server about a turn, in a separate process that nobody waits for.

Loaded only if there is a team server, or other work for such a process.
"""

import os
import sys
import time

from holdfast.hook.observation import TOOL_EVENTS
from holdfast.wire import places

ENDS = frozenset(("Stop", "SessionEnd"))
TOLD_MS = 60_000  # how often the server hears of a long turn


def tell_server(event: str) -> None:
    """Send at the end of a turn; during a long turn once a minute."""
    if event in ENDS or (event in TOOL_EVENTS and _sent_long_ago()):
        start("forward")


def start(argument: str) -> None:
    """Run the hook entry in a process that nobody waits for. Starting it takes 0.3 ms."""
    null = os.open(os.devnull, os.O_RDWR)
    entry = __file__.replace("notify_team.py", "__main__.py")
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", entry, argument],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)],
        setsid=True,  # the client kills what a hook leaves in its process group
    )


def _sent_long_ago() -> bool:
    """Whether the last try is long ago: `server.json` is written at every try."""
    tried_ms = places.modified_ms(os.path.join(places.home(), "server.json"))
    return abs(time.time() * 1000 - tried_ms) > TOLD_MS
