"""Names others look something up by: a secret cannot be taken out of one, so it is refused."""

from __future__ import annotations

from functools import lru_cache

from holdfast.redact import are_clean
from holdfast.work.errors import Refused

MOST_NAMES = 4_096


def check(**names: str | None) -> None:
    """By the field each is given in."""
    for field, name in names.items():
        if name and not _is_clean(name):
            raise Refused(f"{field} must not hold a secret", field)


@lru_cache(MOST_NAMES)  # the same few come with every call
def _is_clean(name: str) -> bool:
    return are_clean((name,))
