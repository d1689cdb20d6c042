"""The guard's log: one line per event, `time LEVEL place message`, rotated at 1 MB."""

from __future__ import annotations

import os
import time

from holdfast.wire import places

ROTATE_BYTES = 1 << 20
LEVELS = ("DEBUG", "INFO", "WARN", "ALERT", "ERROR")


def path() -> str:
    return os.path.join(places.home(), "guard.log")


def add(level: str, place: str, message: str) -> None:
    """One write of one line; a full log is moved aside first, and the one before it goes."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    inert = "".join(c if c.isprintable() else "?" for c in message[:1000])
    _append(path(), f"{stamp} {level} {place} {inert}\n", ROTATE_BYTES)


def _append(target: str, line: str, rotate_bytes: int) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
    fd = os.open(target, flags, 0o600)
    try:
        if os.fstat(fd).st_size > rotate_bytes:
            os.replace(target, target + ".1")
            os.close(fd)
            fd = os.open(target, flags, 0o600)
        os.write(fd, line.encode("utf-8", "replace"))
    finally:
        os.close(fd)
