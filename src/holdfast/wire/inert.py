"""Text of unknown origin, made harmless for a terminal or a log: no escapes, no line ends."""


def inert(text: str, most: int = 1000) -> str:
    """The same words, one line of at most so many; what cannot be printed becomes "?"."""
    return "".join(c if c.isprintable() else "?" for c in text[:most])
