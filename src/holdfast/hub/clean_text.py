"""Make text from outside fit for a row: no secrets, no NUL, no half characters, bounded.

Others look a name up by its exact text, so a secret cannot be removed from it: such a name is
refused.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from holdfast.hub.errors import Refused
from holdfast.redact.find import are_clean, redact
from holdfast.wire.log import is_utf8

MOST_ITEMS, MOST_DEPTH, MOST_NUMBER = 500, 8, 1 << 53
SHORTEST_SECRET = 8  # looking costs 70 µs a text


def clean(text: str, most: int) -> str:
    """Redact the text before cutting it, so that no half of a secret is left."""
    if len(text) < SHORTEST_SECRET or (len(text) <= MOST_NAME_CHARS and is_clean(text)):
        return replace_unstorable(text)[:most]
    return replace_unstorable(redact(text[: 2 * most]))[:most]


def replace_unstorable(text: str) -> str:
    """Replace characters that neither database can store with a question mark."""
    if "\0" in text:
        text = text.replace("\0", "?")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text


def clean_value(value: Any, most: int, depth: int = MOST_DEPTH) -> Any:
    """As `clean`, for any JSON value; parts that are too deep or too many are left out."""
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
        return {replace_unstorable(str(k))[:200]: clean_value(v, most, depth - 1) for k, v in pairs}
    if isinstance(value, list | tuple):
        return [clean_value(one, most, depth - 1) for one in value[:MOST_ITEMS]]
    return clean(str(value), most)


MOST_SHORT_TEXTS = 4_096
MOST_NAME_CHARS = 512
MOST_AGENT_CHARS = 256  # two of them are in one index
MOST_TEXT_CHARS = 200_000


def check_names(**names: str | None) -> None:
    """Check names; the error says which field holds the bad one."""
    for field, name in names.items():
        if name is None:
            continue
        check_text(name, field, MOST_NAME_CHARS)
        if not is_clean(name):
            raise Refused(f"{field} must not hold a secret", field)


def check_agent(name: str, field: str) -> str:
    """Check the name of an agent."""
    return check_text(name, field, MOST_AGENT_CHARS)


def check_text(words: str, field: str, most: int = MOST_TEXT_CHARS) -> str:
    """Return the text if it is not empty; neither engine stores NUL."""
    if not words.strip():
        raise Refused(f"{field} must not be empty", field)
    if len(words) > most:
        raise Refused(f"{field} must hold at most {most:,} characters", field)
    if "\0" in words or not is_utf8(words):
        raise Refused(f"{field} must be text in UTF-8, without NUL", field)
    return words


@lru_cache(MOST_SHORT_TEXTS)  # the same few come with every call, and with every list of windows
def is_clean(text: str) -> bool:
    return are_clean((text,))
