"""How long a text is, in our tokens and in the units the client counts."""

CHARS_PER_TOKEN = 3.5
MOST_UNITS = 9_990  # the client takes 10,000 UTF-16 units per hook, and drops the rest to a file


def chars_for(max_tokens: int) -> int:
    return max(0, min(int(max_tokens * CHARS_PER_TOKEN), MOST_UNITS))


def units(text: str) -> int:
    """UTF-16 units, as the client counts; never fewer than the characters."""
    return len(text) if text.isascii() else len(text) + sum(mark > "\uffff" for mark in text)
