"""One process of this machine at a time: a lock that ends with its holder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.files.lock import acquired
from holdfast.wire import places

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def alone(name: str, patience_seconds: float) -> Iterator[bool]:
    """Whether the lock of this name was had in time; it is ours until the end of the block."""
    os.makedirs(places.home(), 0o700, exist_ok=True)  # noqa: PTH103
    fd = os.open(os.path.join(places.home(), name), _FLAGS, 0o600)  # noqa: PTH118
    try:
        yield acquired(fd, time.monotonic() + patience_seconds)
    finally:
        os.close(fd)
