"""What goes on after its hook has ended, in a process that nobody waits for, and ends by itself: a
message to the team server, and copies of transcripts, if the user turned that on.

The hook starts the first at Stop and SessionEnd, and once a minute during a long turn. The end of a
session starts the second; so does a start if the last copy is more than a day old.
"""

import gc
import os
import signal
import time
from typing import Any

from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.text.numbers import counted
from holdfast.wire import log, places

SEND_SECONDS = 30  # at most
SEND_LATE_SECONDS = 0.5  # the client writes the last lines of a turn a moment after its end
PATIENCE_SECONDS = 5.0  # another may be sending, and have passed us by
DAY_MS = 86_400_000
COPY_SECONDS = 600  # at most; the rest waits for the next time
LATE_SECONDS = 1.0  # the client writes the last lines of a session a moment after its end
LOWER = 10  # of lower priority than whatever the user does


def send_to_team() -> None:
    signal.alarm(SEND_SECONDS)
    if not settings_load.load().word("server"):
        return
    from holdfast.hub import row_times
    from holdfast.hub.team import connection, forward

    now_ms = row_times.now_ms()
    if connection.health(connection.address()).is_down(now_ms):
        return
    time.sleep(SEND_LATE_SECONDS)
    forward.forward_from_hook(now_ms, patience=PATIENCE_SECONDS)


def start_copying(settings: Settings) -> None:
    if settings.word("archive_transcripts") != "on":
        return
    from holdfast.hook import notify_team

    try:
        notify_team.start("transcripts")
    except (OSError, NotImplementedError) as error:
        log.add("WARN", "transcripts", f"not archived this time: {error}")


def is_copy_due(now_ms: int) -> bool:
    """Whether the last copy is more than a day old; also after the clock was set back."""
    return abs(now_ms - places.modified_ms(f"{places.home()}/transcripts/saved.json")) > DAY_MS


def copy_transcripts() -> None:
    gc.enable()  # hooks turn it off; this process may read gigabytes
    signal.alarm(2 * COPY_SECONDS)  # whatever happens
    settings = settings_load.load()
    if settings.word("archive_transcripts") != "on":
        return
    os.nice(LOWER)
    time.sleep(LATE_SECONDS)
    from holdfast.archive.save_transcripts import save_all

    done = save_all(most_bytes(settings), COPY_SECONDS)
    for error in done.errors:
        log.add("WARN", "transcripts", f"not archived: {error}")
    if done.written or done.left:
        left = f", {counted(done.left, 'session')} still to do" if done.left else ""
        log.add("INFO", "transcripts", f"{done.written} archived{left}")


def most_bytes(settings: Settings) -> int:
    return settings.whole("archive_transcripts_megabytes") << 20


def transcripts_state(project: str) -> dict[str, Any]:
    """When Claude Code deletes transcripts, and what we have archived."""
    from holdfast.archive import transcripts
    from holdfast.client.claude_folder import read_cleanup_period

    period, settings = read_cleanup_period(project), settings_load.load(project)
    sessions = transcripts.sessions()
    return {
        "client_days": period.days,
        "client_days_from": period.file or None,
        "client_slip": period.error or None,
        "archived": settings.word("archive_transcripts") == "on",
        "archived_sessions": len(sessions),
        "archived_bytes": sum(session.bytes for session in sessions),
        "most_bytes": most_bytes(settings),
        "words": period.words,
    }
