"""What the two hooks of a compaction printed, left in the window's folder for PostCompact."""

from __future__ import annotations

import os
from contextlib import suppress

from holdfast.wire import log, places

FIRST, SECOND = "brief.txt", "brief-2.txt"


def leave_first(folder: str, text: str) -> None:
    _leave(f"{folder}/{FIRST}", text)


def leave_second(folder: str, compacting_ms: int, text: str) -> None:
    """Save the second half, with the time of its compaction: if the next one has no second hook,
    this file stays."""
    _leave(f"{folder}/{SECOND}", f"{compacting_ms}\n{text}")


def remove_first(folder: str) -> None:
    with suppress(OSError):
        os.unlink(f"{folder}/{FIRST}")  # noqa: PTH108 (pathlib costs 8 ms)


def read(folder: str, compacting_ms: int) -> tuple[str, str]:
    """Return both halves of this compaction; empty if a hook printed nothing."""
    first, second = (
        places.read_small(f"{folder}/{name}", 1 << 16).decode("utf-8", "replace")
        for name in (FIRST, SECOND)
    )
    when, _, text = second.partition("\n")
    return first, text if when == str(compacting_ms) else ""


def _leave(path: str, text: str) -> None:
    """Save what was printed. PostCompact must not read an older one."""
    try:
        places.replace_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        log.add("WARN", "brief", f"could not note what was restored: {error}")
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 (pathlib costs 8 ms)
