"""The guard's log: one line per event, `time LEVEL place message`, rotated at 1 MB."""

from __future__ import annotations

import os
import time

from holdfast.wire import places
from holdfast.wire.inert import inert

ROTATE_BYTES = 1 << 20
ALOUD = ("WARN", "ERROR")  # said on stderr where the log takes nothing
LEVELS = ("DEBUG", "INFO", "WARN", "ALERT", "ERROR")


def path() -> str:
    return os.path.join(places.home(), "guard.log")


def add(level: str, place: str, message: str) -> None:
    """One write of one line. A log that cannot be written never stops what it tells of."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    word = inert(place, 80).replace(" ", "?")
    try:
        size = places.append(path(), f"{stamp} {level} {word} {inert(message)}\n".encode())
        if size > ROTATE_BYTES:
            places.move_aside(path(), ROTATE_BYTES)
    except (OSError, ValueError):
        if level in ALOUD:
            _say(f"holdfast: {inert(message, 400)}\n")


def _say(text: str) -> None:
    try:
        os.write(2, text.encode("utf-8", "replace"))
    except OSError:
        pass
