"""The health of a server's writing thread: what it wrote, what failed, and why.

A server saves this in `~/.holdfast/writes.json` too, so that `holdfast doctor` can report it
without the server's port or token. Imports no database: the doctor would pay 200 ms for it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import msgspec

from holdfast.wire import places

RECENT_MS = 10 * 60_000  # a server that fails now and then is no healthier between two failures
MOST_WORDS = 200


@dataclass(frozen=True, slots=True)
class WriteHealth:
    """Since the server started. Refused requests (404, 409) count as neither."""

    written: int = 0
    failed: int = 0
    failed_ms: int = 0  # when the last one failed
    since_failure: int = 0  # written after it
    last_error: str = ""  # no address, no value of a row: /health asks for no token

    def after(self, written: int, failed: int, error: str, now_ms: int) -> WriteHealth:
        """Return the health after one more group of writes, some of which may have failed."""
        if not failed:
            more = self.since_failure + written
            return replace(self, written=self.written + written, since_failure=more)
        return WriteHealth(
            self.written + written, self.failed + failed, now_ms, written, error[:MOST_WORDS]
        )

    def is_degraded(self, now_ms: int) -> bool:
        """Return whether a write failed lately, or none has succeeded since."""
        return self.failed > 0 and (self.since_failure == 0 or now_ms - self.failed_ms < RECENT_MS)


def save(health: WriteHealth) -> None:
    places.replace_whole(_path(), msgspec.json.encode({"format": 1, **asdict(health)}))


def load() -> WriteHealth | None:
    """Load what the last server on this machine saved; None if no write has failed."""
    try:
        return msgspec.json.decode(places.read_small(_path()), type=WriteHealth)
    except (msgspec.DecodeError, UnicodeError):
        return None


def forget() -> None:
    """Delete the saved health; called when a server starts."""
    with suppress(FileNotFoundError):
        os.unlink(_path())  # noqa: PTH108


def _path() -> str:
    return os.path.join(places.home(), "writes.json")  # noqa: PTH118
