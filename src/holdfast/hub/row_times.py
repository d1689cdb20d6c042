"""Times: as rows hold them (ms since 1970), and as they are written (ISO 8601, UTC)."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now_ms() -> int:
    return int(time.time() * 1000)


def written(ms: int | None) -> str | None:
    """`2026-02-09T10:30:00.000Z`; a time no calendar holds is none."""
    if ms is None:
        return None
    try:
        at = datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def read(text: str) -> int | None:
    """Milliseconds of a written time, or none where it is not one; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
        ms = round(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return ms if written(ms) else None
