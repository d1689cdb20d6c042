"""One install at a time: a lock file in HOLDFAST_HOME, let go by the system if we die."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.client.install.errors import InstallRunning

WAIT_SECONDS = 10.0


@contextmanager
def only_one(ours: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock for a while; InstallRunning if someone else keeps it."""
    ours.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = ours / "install.lock"
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(descriptor, path, time.monotonic() + wait_seconds)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, path: Path, until: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise InstallRunning(f"another install holds {path}") from None
        time.sleep(0.05)
