"""Words as they may be kept: what is seen, and nothing that acts."""

from __future__ import annotations

from holdfast.text.sentences import clip


def visible(text: str) -> str:
    """Without characters that are not seen, or act."""
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() or mark == "\n" else " " for mark in text)


def line(text: str, most: int) -> str:
    """On one line, at most so long, and saying so when there was more."""
    words = " ".join(visible(clip(text, most * 4)).split())
    return words if len(words) <= most else clip(words, most - 2).rstrip() + " …"
