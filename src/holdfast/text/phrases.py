"""Looking phrases up in a text; cheap, as a compaction waits for it."""

from collections.abc import Iterable

# Typographic quotes and dashes on purpose: people paste them.
_BLANKS = ',;:!?()[]"“”«»—–*_`.'  # noqa: RUF001
_PUNCTUATION = str.maketrans(dict.fromkeys(_BLANKS, " ") | {"\u2019": "'"})


def plain(text: str) -> str:
    """Lower case, punctuation as blanks, one blank at each end: what phrases are looked up in."""
    return f" {' '.join(text.lower().translate(_PUNCTUATION).split())} "


def within(phrases: Iterable[str], text: str) -> bool:
    """One of these is in the text; a loop, since `any` over a generator takes twice as long."""
    for phrase in phrases:  # noqa: SIM110
        if phrase in text:
            return True
    return False
