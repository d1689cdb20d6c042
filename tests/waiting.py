"""Waiting for something another process or thread does: bounded, and no longer than it takes."""

import time
from typing import Any

PATIENCE_SECONDS = 60


def until(true: Any, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for it, bounded."""
    give_up = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < give_up, "it did not come true"
        time.sleep(0.01)
