"""The words of a text as both engines index them, and a query in such words.

Words are runs of letters and digits. `getUserName` also counts as three words. A run of Chinese,
Japanese, Korean or Thai has no blanks, so its pairs of characters count as well. Both are indexed.
"""

import re
from typing import NamedTuple

MOST_CHARS = 10_000
MOST_TERMS = 48
LONGEST_TERM = 64
LEAST_STEM = 4
_STOP = (
    "a about after again all also am an and any are as at be because been before being but by "
    "can could did do does doing don down for from further get got had has have having he her "
    "here hers him his how i if in into is it its itself just let ll many may me might more most "
    "much my myself no nor not now of off on once only or other our ours out over own please re "
    "s same she should so some such t than that the their theirs them then there these they this "
    "those through to too under until up ve very was we were what when where which while who "
    "whom why will with would you your yours yourself"
)
STOP = frozenset(_STOP.split())
_UNDIVIDED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Patterns are compiled when they are used: a search in plain words needs one of the three.
_WORD = r"[^\W_]+"
_RUN = f"[{_UNDIVIDED}]+"
_HUMP = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"


class Query(NamedTuple):
    """A query. `terms` have only letters and digits, so no engine's syntax can get through."""

    text: str
    terms: tuple[str, ...]
    notes: tuple[str, ...] = ()


def parse_query(text: str) -> Query:
    """Parse a query. Words that occur in every text count only if there are no others."""
    notes = []
    if len(text) > MOST_CHARS:
        notes.append(f"only the first {MOST_CHARS:,} characters of the query were looked at")
        text = text[:MOST_CHARS]
    text = text.encode("utf-8", "replace").decode().replace("\0", " ")  # replaces lone surrogates
    found = [*plain(text), *name_parts(text)]
    telling = [word for word in found if word not in STOP]
    terms = list(dict.fromkeys(telling or found))
    if len(terms) > MOST_TERMS:
        notes.append(f"only the first {MOST_TERMS} different words of the query were searched for")
    if not terms:
        notes.append("the query holds no letter and no digit: there is nothing to search for")
    elif not telling:
        notes.append("the query holds only words that stand in nearly every text")
    return Query(text, tuple(terms[:MOST_TERMS]), tuple(notes))


def plain(text: str) -> list[str]:
    """Return the words of a text in lower case, without runs of scripts that have no blanks."""
    words = re.findall(_WORD, re.sub(_RUN, " ", text) if not text.isascii() else text)
    return [word.lower()[:LONGEST_TERM] for word in words]


def name_parts(text: str) -> list[str]:
    """Return the parts of names such as `getUserName`, and the pairs of runs without blanks."""
    found: list[str] = []
    for word in re.findall(_WORD, text):
        parts = re.split(_HUMP, word) if _has_humps(word) else []
        if len(parts) > 1:
            found += [part.lower() for part in parts if len(part) > 1]
    if not text.isascii():
        for run in re.findall(_RUN, text):
            found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return [word[:LONGEST_TERM] for word in found]


def _has_humps(word: str) -> bool:
    """Return whether a capital follows the first letter."""
    return not word.islower() and word[1:] != word[1:].lower()


def stem(term: str) -> str:
    """Return the start of a word, by which it is recognised with any ending."""
    return term[: max(LEAST_STEM, len(term) - 3)]


def coverage(asked: Query, text: str) -> float:
    """Return the share of the query's words that a text contains."""
    low = text.lower()
    return sum(stem(term) in low for term in asked.terms) / max(1, len(asked.terms))
