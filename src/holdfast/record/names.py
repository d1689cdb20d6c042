"""What the model and the user wrote that may be searched for again: identifiers, and references
such as addresses, numbers of requests and commits.

Output of tools is not searched: it has most of the bytes, and little of it is used again.
"""

import re

from holdfast.record.model import NameUse, Record, thin, warm
from holdfast.text.sentences import clip

MOST_NAMES = 1500
READ_CHARS = 6000
SHORTEST_NAME, LONGEST_NAME = 6, 60
_WORD_BYTES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_APART = bytes(one if one in _WORD_BYTES else 32 for one in range(256))
_HEX = frozenset("0123456789abcdef")
_ADDRESS = re.compile(r"https?://[^\s\"'`<>)\]}\\]{4,190}")
_NUMBER = re.compile(r"#\d{1,5}\b")


def words(text: str) -> set[str]:
    """Return the identifiers in a text: words that look like code, not prose."""
    return {word for word in _long_words(text) if _is_shaped(word)}


def _long_words(text: str) -> set[str]:
    """Return the runs of ASCII letters, digits and underscores. A regular expression takes twice as
    long."""
    data = clip(text, READ_CHARS).encode("ascii", "replace")
    found = set(data.translate(_APART).decode("ascii").split())
    return {word[:LONGEST_NAME] for word in found if len(word) >= SHORTEST_NAME}


def _is_shaped(word: str) -> bool:
    """Whether a word has an inner underscore or an inner capital, and is not a number."""
    if word.islower() or word.isupper() or word[1:].islower():
        return "_" in word[1:-1] and not word[0].isdigit()
    return not word[0].isdigit()


def references(text: str) -> set[str]:
    """Return the addresses, numbers of requests and commits in a text."""
    text = clip(text, READ_CHARS)
    found = {one.rstrip(".,;:!?*") for one in _ADDRESS.findall(text)}
    commits = {word for word in _long_words(text) if _is_commit(word) and _is_alone(word, text)}
    return found | commits | set(_NUMBER.findall(text))


def _is_commit(word: str) -> bool:
    if not 7 <= len(word) <= 40 or word.isalpha() or word.isdigit():
        return False
    return _HEX.issuperset(word)


def _is_alone(word: str, text: str) -> bool:
    """Whether the word stands alone: `39d6c1eb0af8` in a session's id and `b0b6728` in
    `b0b6728.output` are not commits."""
    return re.search(rf"(?<![\w-]){word}(?![\w-]|\.\w)", text) is not None


def is_reference(name: str) -> bool:
    return name.startswith(("http://", "https://", "#")) or _is_commit(name)


def note(record: Record, found: set[str], weight: float) -> None:
    for word in sorted(found):  # sorted: a set's order is not the same in every process
        name = record.names.setdefault(word, NameUse())
        name.count += 1
        warm(name, record.op, weight)
    thin(record.names, record.op, MOST_NAMES)


def hear(record: Record, text: str, weight: float) -> None:
    """Record the identifiers and references in a text that somebody wrote."""
    if not record.far:
        note(record, (words(text) | references(text)) - record.agents.keys(), weight)
