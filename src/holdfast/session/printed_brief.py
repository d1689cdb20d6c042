"""What the two hooks of a compaction printed: left for PostCompact, counted for the user."""

import os
from collections.abc import Mapping
from contextlib import suppress

from holdfast.wire import log, places

FIRST, SECOND = "brief.txt", "brief-2.txt"


def leave_first(folder: str, text: str) -> None:
    _leave(f"{folder}/{FIRST}", text)


def leave_second(folder: str, compacting_ms: int, text: str) -> None:
    """Save the second half with the time of its compaction: it stays if the next has none."""
    _leave(f"{folder}/{SECOND}", f"{compacting_ms}\n{text}")


def remove_first(folder: str) -> None:
    with suppress(OSError):
        os.unlink(f"{folder}/{FIRST}")


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
            os.unlink(path)


# What a brief restored, by section, as the user reads it.
RESTORED = {"said": "of your message", "failing": "failing command"}
RESTORED |= {"tasks": "open task", "agents": "background task"}


def restored_words(counts: Mapping[str, int]) -> str:
    some = ((counts.get(section), noun) for section, noun in RESTORED.items())
    return ", ".join(_plural(count, noun) for count, noun in some if count)


def restored_line(counts: Mapping[str, int]) -> str:
    """For the user: what was restored, and how many items were not found in the summary."""
    words, missing = restored_words(counts), counts.get("not_found")
    if not words or not missing:
        return words and f"Holdfast restored {words}"
    verb = "was" if missing == 1 else "were"
    told = f"{missing:,} {verb} not found in the summary: holdfast lost"
    return f"Holdfast restored {words}; {told}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 and not noun.startswith('of ') else 's'}"
