"""The words of a text that tell what it is about, in any language: longer ones and numbers, by
their beginnings."""

from __future__ import annotations

import re

STEM_CHARS = 7  # "archive", "archives" and "archived" name one thing
LEAST_CHARS = 4  # of a telling word, if it has no digit
_MARKS = ".,:;!?()\"'“”`*"
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


def words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def telling(text: str) -> set[str]:
    """Return the stems of the words that name something."""
    long = (word for word in words(text) if len(word) >= LEAST_CHARS or not word.isalpha())
    return {word[:STEM_CHARS] for word in long}


def is_prose(sentence: str) -> bool:
    """Whether at least half of it are plain words: a command, a path or a line of a log is not."""
    parts = sentence.split()
    plain = sum(part.strip(_MARKS).replace("'", "").isalpha() for part in parts)
    return 2 * plain >= len(parts)
