"""One install at a time: a lock file in HOLDFAST_HOME, let go by the system if we die."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.files import lock
from holdfast.setup.errors import HomeUnusable, InstallRunning

WAIT_SECONDS = 10.0


@contextmanager
def only_one(ours: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock for a while; InstallRunning if someone else keeps it."""
    path = ours / "install.lock"
    descriptor = _open(path)
    try:
        if not lock.acquire(descriptor, wait_seconds):
            raise InstallRunning(f"another install holds {path}")
        yield
    finally:
        os.close(descriptor)


def check_home(ours: Path) -> None:
    """Refuse a HOLDFAST_HOME that is, or lies under, something else than a folder."""
    there = next(place for place in (ours, *ours.parents) if os.path.lexists(place))
    if not there.is_dir():
        raise HomeUnusable(f"HOLDFAST_HOME is {ours}, and {there} is not a folder")


def _open(path: Path) -> int:
    try:
        return lock.open_file(str(path))
    except OSError as slip:
        raise HomeUnusable(f"{path} cannot be written: {slip.strerror or slip}") from slip
