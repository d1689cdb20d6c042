"""Names others look something up by: a secret cannot be taken out of one, so it is refused; and
words as a database can hold them."""

from __future__ import annotations

from functools import lru_cache

from holdfast.hub.errors import Refused
from holdfast.redact import are_clean
from holdfast.wire.log import is_utf8

MOST_NAMES = 4_096
MOST_NAME_CHARS = 512
MOST_AGENT_CHARS = 256  # two of them are in one index
MOST_TEXT_CHARS = 200_000


def check(**names: str | None) -> None:
    """By the field each is given in."""
    for field, name in names.items():
        if name is None:
            continue
        text(name, field, MOST_NAME_CHARS)
        if not _is_clean(name):
            raise Refused(f"{field} must not hold a secret", field)


def agent(name: str, field: str) -> str:
    """Who says or hears something."""
    return text(name, field, MOST_AGENT_CHARS)


def text(words: str, field: str, most: int = MOST_TEXT_CHARS) -> str:
    """The same words, if they are some; neither engine keeps NUL."""
    if not words.strip():
        raise Refused(f"{field} must not be empty", field)
    if len(words) > most:
        raise Refused(f"{field} must hold at most {most:,} characters", field)
    if "\0" in words or not is_utf8(words):
        raise Refused(f"{field} must be text in UTF-8, without NUL", field)
    return words


@lru_cache(MOST_NAMES)  # the same few come with every call
def _is_clean(name: str) -> bool:
    return are_clean((name,))
