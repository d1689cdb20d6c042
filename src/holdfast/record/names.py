"""Identifiers and references in what the model and the user wrote.

Output of tools is not searched: it has most of the bytes, and little of it is used again.
"""

import re

from holdfast.record.model import NameUse, Record, Reference, thin, warm
from holdfast.text.sentences import clip

MOST_NAMES = 1500
MOST_REFERENCES = 300
READ_CHARS = 6000
MOST_SHOWN = 20  # files read last
LONGEST_REFERENCE = 200
SHORTEST_NAME, LONGEST_NAME = 6, 60
_WORD_BYTES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_APART = bytes(one if one in _WORD_BYTES else 32 for one in range(256))
_NOT_TEAMS = frozenset({"UTF", "SHA", "ISO", "AES", "RFC", "GPT", "HTTP"})
_CALLED = frozenset({"PR", "pull", "issue", "pr"})
_AROUND = ".,;:!?()[]{}<>*`'\""
_ENDS = "\"'`<>)]}\\"
_HEX = frozenset("0123456789abcdef")


def words(text: str) -> set[str]:
    """Return the identifiers in a text: words that look like code, not prose."""
    return {word for word in _long_words(text) if _is_shaped(word)}


def _long_words(text: str) -> set[str]:
    return {word[:LONGEST_NAME] for word in set(_words(text)) if len(word) >= SHORTEST_NAME}


def _words(text: str) -> list[str]:
    """Return the runs of ASCII letters, digits and underscores. A regular expression takes twice as
    long."""
    data = clip(text, READ_CHARS).encode("ascii", "replace")
    return data.translate(_APART).decode("ascii").split()


def _is_shaped(word: str) -> bool:
    """Whether a word has an inner underscore or an inner capital, and is not a number."""
    if word.islower() or word.isupper() or word[1:].islower():
        return "_" in word[1:-1] and not word[0].isdigit()
    return not word[0].isdigit()


def note(record: Record, found: set[str], weight: float, file: str = "") -> None:
    table, op = record.names, record.op
    for word in sorted(found):  # sorted: a set's order is not the same in every process
        name = table.get(word)
        if name is None:
            name = table[word] = NameUse()
        name.count += 1
        warm(name, op, weight)
        if file:  # a name in prose belongs to no file
            name.file = file
    thin(table, op, MOST_NAMES)


def take_back(record: Record, file: str, op: int) -> None:
    """Remove the names that occurred only in an edit of this file that was not made."""
    for word, name in list(record.names.items()):
        if name.file == file and name.op == op:
            name.count, name.file = name.count - 1, ""
            if name.count <= 0:
                del record.names[word]


def hear(record: Record, text: str, weight: float, reference_weight: float = 1.0) -> None:
    """Record the identifiers and references in a text that somebody wrote."""
    if record.far:
        return
    shaped, commits = set(), []
    for word in _long_words(text):
        if _is_shaped(word):
            shaped.add(word)
        elif is_commit(word) and word not in record.agents and _stands_alone(word, text):
            commits.append(word)
    note(record, shaped, weight)
    for word in sorted(commits):
        point(record, word, "hash", reference_weight)
    if "-" in text or "#" in text or "http" in text or "PR " in text:
        refer(record, text, reference_weight)


def refer(record: Record, text: str, weight: float = 1.0) -> None:
    """Record the pull requests, tickets and addresses in a text."""
    before = ""
    for word in clip(text, READ_CHARS).split():
        if "http" in word:
            _address(record, word, weight)
        elif "#" in word or before in _CALLED:
            number = word.rpartition("#")[2].strip(_AROUND)
            if number.isdecimal() and len(number) <= 5:
                point(record, f"#{number}", "request", weight)
        elif "-" in word:
            _ticket(record, word.strip(_AROUND), weight)
        before = word


def _address(record: Record, word: str, weight: float) -> None:
    url = word[word.find("http") :]
    for mark in _ENDS:
        url = url.partition(mark)[0]
    if url.startswith(("http://", "https://")) and 10 < len(url) <= LONGEST_REFERENCE:
        point(record, url.rstrip(".,;:"), "url", weight)


def _ticket(record: Record, word: str, weight: float) -> None:
    team, _, number = word.partition("-")
    is_team = 2 <= len(team) <= 6 and team.isascii() and team.isalpha() and team.isupper()
    if is_team and number.isdecimal() and len(number) <= 5 and team not in _NOT_TEAMS:
        point(record, word, "ticket", weight)


def is_commit(word: str) -> bool:
    if not 7 <= len(word) <= 40 or word.isalpha() or word.isdigit():
        return False
    return _HEX.issuperset(word)


def _stands_alone(word: str, text: str) -> bool:
    """Whether the word stands alone: `39d6c1eb0af8` in a session's id and `b0b6728` in
    `b0b6728.output` are not commits."""
    return re.search(rf"(?<![\w-]){word}(?![\w-]|\.\w)", text) is not None


def point(record: Record, value: str, kind: str, weight: float = 1.0, said: str = "") -> None:
    """Record one more mention of a reference."""
    one = record.references.get(value)
    if one is None:
        one = record.references[value] = Reference(kind)
    one.count += 1
    one.note = said or one.note
    if kind != "hash":
        one.kind = kind
    warm(one, record.op, weight)
    thin(record.references, record.op, MOST_REFERENCES)  # removes the coldest, never this one
