"""A number of tokens as people write it: `12000`, `12,000`, `12k`, `1.5m`, `~12k tokens`."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(\d{1,12})(?:\.(\d{1,6}))?\s*([km]?)")
FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}


def tokens(given: str) -> int | None:
    """None where it is no such number."""
    plain = (
        given.lower()
        .lstrip("~≈ ")
        .removeprefix("about")
        .removesuffix("tokens")
        .strip()
        .replace(",", "")
        .replace("_", "")
    )
    found = _NUMBER.fullmatch(plain)
    if found is None:
        return None
    whole, part, factor = int(found[1]), found[2] or "", FACTORS[found[3]]
    return whole * factor + (int(part) * factor // 10 ** len(part) if part else 0)
