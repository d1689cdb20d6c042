"""Times: as rows hold them (ms since 1970), and as they are written (ISO 8601, UTC)."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (UTC, without the zone: `isoformat` would write it)


def now_ms() -> int:
    return int(time.time() * 1000)


def to_iso(ms: int | None) -> str | None:
    """`2026-02-09T10:30:00.000Z`; a time no calendar holds is none."""
    if ms is None:
        return None
    minute, rest = divmod(ms, 60_000)
    start = _minute(minute)
    return f"{start}{rest // 1000:02}.{rest % 1000:03}Z" if start else None


@lru_cache(1024)
def _minute(number: int) -> str:
    """`2026-02-09T10:30:`, or nothing. Cached: rows of a page are often of the same minute, and
    formatting a date takes four times as long as the rest."""
    try:
        at = _EPOCH + timedelta(minutes=number)
    except OverflowError:
        return ""
    return at.isoformat(timespec="minutes") + ":"


def from_iso(text: str) -> int | None:
    """Milliseconds of a written time, or none where it is not one; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
        ms = round(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return ms if to_iso(ms) else None
