"""Text of unknown origin, made harmless for a terminal or a log: no escapes, no line ends. And
whether it can be written down at all."""


def inert(text: str, most: int = 1000) -> str:
    """The same words, one line of at most so many; what cannot be printed becomes "?"."""
    return "".join(c if c.isprintable() else "?" for c in text[:most])


def is_utf8(text: str) -> bool:
    """Arguments and names of files may hold bytes that are none, and no page, row or line can."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
