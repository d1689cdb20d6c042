"""How much room words take in a picture, before any font is known.

Whoever opens it has fonts of their own: widths are those of a wide one (DejaVu Sans, in shares of
its size), so that no other runs over.
"""

from __future__ import annotations

from unicodedata import combining, east_asian_width

NARROW = frozenset("iIjlfrt.,:;'`|!()[]{}/\\- \"")
WIDE = frozenset("mwMWOQGD@%&—…")
SIZE = 12


def width(text: str, size: float = SIZE) -> float:
    return sum(_share(mark) for mark in text) * size


def _share(mark: str) -> float:
    if combining(mark):
        return 0.0
    if east_asian_width(mark) in "WF" or ord(mark) >= 0x1F000:
        return 1.3
    if mark in NARROW:
        return 0.42
    return 1.0 if mark in WIDE else 0.76 if mark.isupper() else 0.64


def wrapped(text: str, room: float, most: int) -> list[str]:
    """At most so many lines, broken between words where that leaves half a line; a cut is seen."""
    lines: list[str] = []
    while text:
        fits = _fitting(text, room)
        if fits == len(text):
            return [*lines, text]
        if len(lines) == most - 1:
            return [*lines, text[: _fitting(text, room - width("…"))].rstrip() + "…"]
        space = text.rfind(" ", 0, fits + 1)
        at = space if space > fits // 2 else fits
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return lines


def _fitting(text: str, room: float) -> int:
    """How many marks fit; one at least, so that there is an end."""
    used = 0.0
    for at, mark in enumerate(text):
        used += width(mark)
        if used > room:
            return max(1, at)
    return len(text)
