"""Times: as rows hold them (ms since 1970), and as they are written (ISO 8601, UTC)."""

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (UTC, without the zone: `isoformat` would write it)


def now_ms() -> int:
    return int(time.time() * 1000)


def to_iso(ms: int | None) -> str | None:
    """`2026-02-09T10:30:00.000Z`; a time no calendar holds is none."""
    if ms is None:
        return None
    try:
        at = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None
    return at.isoformat(timespec="milliseconds") + "Z"


def from_iso(text: str) -> int | None:
    """Milliseconds of a written time, or none where it is not one; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
        ms = round(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return ms if to_iso(ms) else None
