"""The few words of a text that show why it was found."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.brief import fence

CHARS = 240
TITLE_CHARS = 160
STEM = 4  # letters by which a word is known again, whatever its ending


def snippet(text: str, terms: Iterable[str], most: int = CHARS) -> str:
    """The stretch with the most of the words asked for, on one line."""
    flat = " ".join(fence.clean(text).split())
    if len(flat) <= most:
        return flat
    start = _start(flat.lower(), [term[: max(STEM, len(term) - 3)] for term in terms], most)
    cut = flat[start : start + most]
    return ("… " if start else "") + cut.strip() + (" …" if start + most < len(flat) else "")


def _start(low: str, stems: list[str], most: int) -> int:
    at = sorted({low.find(stem) for stem in stems} - {-1})
    if not at:
        return 0
    room = most - 40
    best = max(at, key=lambda first: (sum(first <= one < first + room for one in at), -first))
    blank = low.rfind(" ", 0, max(0, best - 20))
    return blank + 1


def title(text: str) -> str:
    """The first line that says something."""
    for line in text.splitlines():
        if words := fence.flat(line.lstrip("#-*> "), TITLE_CHARS):
            return words
    return ""
