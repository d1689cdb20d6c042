"""The log: one line per event, `time LEVEL place message`, rotated at 1 MB.

Text of unknown origin is made harmless for a log or a terminal: no escapes, no line ends.
"""

import os
import time

from holdfast.wire import places

ROTATE_BYTES = 1 << 20
ALOUD = ("WARN", "ERROR")  # said on stderr if the log cannot be written
LEVELS = ("DEBUG", "INFO", "WARN", "ALERT", "ERROR")


def inert(text: str, most: int = 1000) -> str:
    """The text on one line, cut to a length; characters that cannot be printed become "?"."""
    return "".join(c if c.isprintable() else "?" for c in text[:most])


def is_utf8(text: str) -> bool:
    """Whether a text can be encoded. Arguments and file names may hold bytes that cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def path() -> str:
    return os.path.join(places.home(), "guard.log")


def add(level: str, place: str, message: str) -> None:
    """Append one line with one write. A log that cannot be written stops nothing."""
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
