"""Copy transcripts into the archive, if the user turned that on, in a process nobody waits for.

The end of a session starts it. So does the start of one if the last copy is more than a day old,
because sessions that were killed had no end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.text.numbers import counted
from holdfast.wire import log, places

if TYPE_CHECKING:
    from holdfast.archive.save_transcripts import SaveResult
    from holdfast.settings.load import Settings

ARGUMENT = "transcripts"
DAY_MS = 86_400_000
AT_MOST_SECONDS = 600  # the rest waits for the next time
LATE_SECONDS = 1.0  # the client writes the last lines of a session a moment after its end
LOWER = 10  # of lower priority than whatever the user does


def at_end(settings: Settings) -> None:
    if is_on(settings):
        _start()


def at_start(settings: Settings, now_ms: int) -> None:
    if is_on(settings) and is_due(now_ms):
        _start()


def is_due(now_ms: int) -> bool:
    """Whether the last copy is more than a day old; also after the clock was set back."""
    return abs(now_ms - places.modified_ms(f"{places.home()}/transcripts/saved.json")) > DAY_MS


def is_on(settings: Settings) -> bool:
    return settings.word("archive_transcripts") == "on"


def _start() -> None:
    from holdfast.hook import notify_team

    try:
        notify_team.start(ARGUMENT)
    except (OSError, NotImplementedError) as error:
        log.add("WARN", "transcripts", f"not archived this time: {error}")


def run() -> None:
    """What the background process does."""
    import gc
    import os
    import signal
    import time

    from holdfast.settings import load as settings_load

    gc.enable()  # hooks turn it off; this process may read gigabytes
    signal.alarm(2 * AT_MOST_SECONDS)  # whatever happens
    settings = settings_load.load()
    if not is_on(settings):
        return
    os.nice(LOWER)
    time.sleep(LATE_SECONDS)
    from holdfast.archive.save_transcripts import save_in_turn

    _log(save_in_turn(most_bytes(settings), AT_MOST_SECONDS))


def most_bytes(settings: Settings) -> int:
    return settings.whole("archive_transcripts_megabytes") << 20


def _log(done: SaveResult) -> None:
    for error in done.errors:
        log.add("WARN", "transcripts", f"not archived: {error}")
    if done.written or done.left:
        left = f", {counted(done.left, 'session')} still to do" if done.left else ""
        log.add("INFO", "transcripts", f"{done.written} archived{left}")


def state(project: str) -> dict[str, Any]:
    """When Claude Code deletes transcripts, and what we have archived."""
    from holdfast.archive import transcripts
    from holdfast.client.settings_files import read_cleanup_period
    from holdfast.settings.load import load

    period, settings = read_cleanup_period(project), load(project)
    every = transcripts.sessions()
    return {
        "client_days": period.days,
        "client_days_from": period.file or None,
        "client_slip": period.error or None,
        "archived": is_on(settings),
        "archived_sessions": len(every),
        "archived_bytes": sum(one.bytes for one in every),
        "most_bytes": most_bytes(settings),
        "words": period.words,
    }
