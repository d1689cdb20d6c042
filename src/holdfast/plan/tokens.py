"""A number of tokens as people write it: `12000`, `12,000`, `12k`, `12k tokens`."""

from __future__ import annotations

MOST_DIGITS = 12


def tokens(given: str) -> int | None:
    """None where it is no such number."""
    plain = given.lower().removesuffix("tokens").strip().replace(",", "").replace("_", "")
    factor = 1000 if plain.endswith("k") else 1
    digits = plain.removesuffix("k").strip()
    if not digits.isdecimal() or len(digits) > MOST_DIGITS:
        return None
    return int(digits) * factor
