"""The few words of a text that show why it was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.text import fence

CHARS = 300
TITLE_CHARS = 160
MOST_PLACES = 40  # of one word that are looked at
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
    """Where the stretch begins that holds the most different words; of equals, the first."""
    at = sorted((place, stem) for stem in dict.fromkeys(stems) for place in _places(low, stem))
    room = most - 40
    best, most_words, last = 0, 0, 0
    held: dict[str, int] = {}
    for place, stem in at:
        held[stem] = held.get(stem, 0) + 1
        while at[last][0] < place - room:
            held[at[last][1]] -= 1
            last += 1
        words = sum(1 for count in held.values() if count)
        if words > most_words:
            best, most_words = at[last][0], words
    return low.rfind(" ", 0, max(0, best - 20)) + 1


def _places(low: str, stem: str) -> Iterator[int]:
    place = low.find(stem)
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield place
        place = low.find(stem, place + 1)


def title(text: str) -> str:
    """The first line that says something."""
    for line in text.splitlines():
        if words := fence.flat(line.lstrip("#-*> "), TITLE_CHARS):
            return words
    return ""
