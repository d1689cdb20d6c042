"""Words of unknown origin made fit for a row: no secrets, no NUL, no half characters, bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.redact import redact

MOST_ITEMS, MOST_DEPTH, MOST_NUMBER = 500, 8, 1 << 53
SHORTEST_SECRET = 8  # looking costs 70 µs a text


def clean(text: str, most: int) -> str:
    """Redacted before it is cut, so that half a secret is never what is left."""
    if len(text) < SHORTEST_SECRET:
        return whole(text)[:most]
    return whole(redact(text[: 2 * most]))[:most]


def whole(text: str) -> str:
    """What neither database can hold becomes a question mark."""
    if "\0" in text:
        text = text.replace("\0", "?")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text


def clean_value(value: Any, most: int, depth: int = MOST_DEPTH) -> Any:
    """The same for anything JSON can say; what is too deep or too much is left out."""
    if isinstance(value, str):
        return clean(value, most)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return max(-MOST_NUMBER, min(value, MOST_NUMBER))
    if isinstance(value, float):
        return value if abs(value) < MOST_NUMBER else None  # NaN compares false
    if not depth:
        return None
    if isinstance(value, Mapping):
        pairs = list(value.items())[:MOST_ITEMS]
        return {whole(str(k))[:200]: clean_value(v, most, depth - 1) for k, v in pairs}
    if isinstance(value, list | tuple):
        return [clean_value(one, most, depth - 1) for one in value[:MOST_ITEMS]]
    return clean(str(value), most)
