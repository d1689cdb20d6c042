"""How relevant a segment still is, 0 to 1: what it holds, how lately and how often it is read.

    relevance = 0.40 substance + 0.35 · 2^(-days since last access / 14) + 0.25 · (1 - 1 / (1 + n))

`substance` is what it held when it was made: decisions 0.3, files changed 0.3, a failure and its
fix 0.2, words of the user that hold on 0.2. A segment nobody asks for fades to what it holds.
"""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.segment.formats import Compressed

SUBSTANCE, LATELY, OFTEN = 0.40, 0.35, 0.25
HALVES_IN_DAYS = 14.0
MOST_DAYS = 10_000.0


def substance(*, decisions: bool, changes: bool, fixes: bool, rules: bool) -> float:
    return round(0.3 * decisions + 0.3 * changes + 0.2 * fixes + 0.2 * rules, 2)


def score(one: Compressed, now_ms: int) -> float:
    held = min(max(one.metadata.substance, 0.0), 1.0)
    days = min(max(days_since(one.last_accessed or one.compressed_at, now_ms), 0.0), MOST_DAYS)
    lately = float(2.0 ** (-days / HALVES_IN_DAYS))
    often = 1 - 1 / (1 + max(one.access_count, 0))
    return round(SUBSTANCE * held + LATELY * lately + OFTEN * often, 3)


def days_since(stamp: str, now_ms: int) -> float:
    """Very many for what is no time; a time without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return MOST_DAYS
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (now_ms / 1000 - moment.timestamp()) / 86_400


def stamp(now_ms: int) -> str:
    return datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
