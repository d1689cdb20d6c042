"""How much a brief may hold, in the units the client counts."""

from holdfast.budget.estimate import CHARS_PER_TOKEN, units

__all__ = ["CHARS_PER_TOKEN", "MOST_UNITS", "chars_for", "units"]

MOST_UNITS = 9_990  # the client takes 10,000 UTF-16 units per hook, and drops the rest to a file


def chars_for(max_tokens: int) -> int:
    return max(0, min(int(max_tokens * CHARS_PER_TOKEN), MOST_UNITS))
