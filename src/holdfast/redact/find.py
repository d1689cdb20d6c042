"""Find secrets, and remove them from a text or a JSON value.

In JSON a key such as `password` makes its value secret: a string, a number, and everything in a
list or an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from holdfast.redact import hidden, named, shapes
from holdfast.redact.columns import Tables
from holdfast.redact.names import is_telling
from holdfast.redact.value import (
    SecretFinding,
    is_password,
    is_phrase,
    like_a_password,
    looks_random,
    merge_findings,
)

BETWEEN = "\n~.~\n~.~\n~.~\n~.~\n"  # texts that are searched together; no table goes on behind it
LONG_CHARS = 2_000  # a longer text is searched alone
SHORTEST_REPEATED = 8  # a shorter value may be a part of any word
MOST_REPEATED = 200  # values of one text
PASSES = 3  # a rule may find a secret only after the one next to it was removed
SHORT_CHARS = 40
_LEAST_SECRET_NUMBER = 100_000  # a smaller one is probably a count
_PLACEHOLDER = SecretFinding("password", 0, 0).placeholder
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ASCII_LOWER[0x212A] = ord("k")  # of the others `lower` makes only the Kelvin sign a plain letter
_own: list[re.Pattern[str]] = []


def use_patterns(patterns: Iterable[re.Pattern[str]]) -> None:
    """Search for the user's own patterns too: a match is a secret, or its first group."""
    _own[:] = patterns
    _redact_short.cache_clear()


def find(text: str) -> list[SecretFinding]:
    """Return the secrets of a text in order. They do not overlap."""
    findings: list[SecretFinding] = []
    for view in hidden.views(text):
        found = _search(hidden.without_escapes(view.text if view else text))
        findings += map(view.in_text, found) if view else found
    return merge_findings(findings)


def _search(text: str) -> Iterator[SecretFinding]:
    yield from shapes.scan(text)
    low = _lower_in_place(text)
    tables, done = Tables(text), 0
    for match in named.matches(low):
        if match.lastgroup in ("cell", "pair"):
            yield from tables.below(match.start())
        if match.start() >= done:
            for finding in named.findings(text, low, match):
                done = finding.end
                yield finding
    yield from shapes.scan_lists(low)
    for pattern in _own:
        for match in pattern.finditer(text):
            start, end = match.span(1 if match.lastindex else 0)
            if end > start:
                yield SecretFinding("own pattern", start, end)


def _lower_in_place(text: str) -> str:
    """Lower the text without moving any character: "İ".lower() is two characters long."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(_ASCII_LOWER)


def are_clean(texts: Iterable[str]) -> bool:
    """Whether no text contains a secret. Short texts are joined: that saves a third."""
    return all(which_are_clean(list(texts)))


def which_are_clean(texts: Sequence[str]) -> list[bool]:
    """Return for each text whether it is clean. All short ones are searched at once; those in
    which that finds something are searched alone, because one that ends in `password:` takes the
    next one for a secret."""
    findings = find(BETWEEN.join(text for text in texts if len(text) < LONG_CHARS))
    clean, at, next_ = [], 0, 0
    for text in texts:
        if len(text) >= LONG_CHARS:
            clean.append(not find(text))
            continue
        end = at + len(text)
        while next_ < len(findings) and findings[next_].end <= at:
            next_ += 1
        is_suspect = next_ < len(findings) and findings[next_].start < end
        clean.append(not is_suspect or not find(text))
        at = end + len(BETWEEN)
    return clean


def redact(text: str) -> str:
    """Replace each secret by a placeholder, wherever it stands; the same object if none."""
    for _ in range(PASSES):
        findings = find(text)
        if not findings:
            break
        values = {
            text[finding.start : finding.end]: finding.placeholder
            for finding in findings[:MOST_REPEATED]
        }
        text = replace_findings(text, findings)
        for value in sorted(values, key=len, reverse=True):  # one may contain another
            if value in text and _is_known_again(value):
                text = text.replace(value, values[value])
    return text


def _is_known_again(value: str) -> bool:
    """Whether a value is a secret also where no name stands beside it."""
    return len(value) >= SHORTEST_REPEATED and (looks_random(value) or like_a_password(value))


def replace_findings(text: str, findings: list[SecretFinding]) -> str:
    """Replace each finding with a placeholder."""
    parts: list[str] = []
    at = 0
    for finding in findings:
        parts += text[at : finding.start], finding.placeholder
        at = finding.end
    return "".join([*parts, text[at:]])


def redact_named_values(value: Any, *, is_named: bool = False) -> Any:
    """Replace every value under a key such as `password` with a placeholder."""
    if isinstance(value, dict):
        return {
            key: redact_named_values(inner, is_named=is_named or is_telling(key))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [redact_named_values(inner, is_named=is_named) for inner in value]
    return _PLACEHOLDER if is_named and _is_secret(value) else value


def redact_each(value: Any) -> Any:
    """Redact every text in the value, including its keys. Short texts repeat in long answers."""
    if isinstance(value, str):
        return _redact_short(value) if len(value) <= SHORT_CHARS else redact(value)
    if isinstance(value, dict):
        return {redact_each(key): redact_each(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_each(inner) for inner in value]
    return value


@lru_cache(1 << 12)
def _redact_short(text: str) -> str:
    return redact(text)


def redact_answer(question: str, answer: str) -> str:
    """Redact the answer if its question asks for a secret, as in "What is the admin password?"."""
    for before, after in ((f'"{question}"="', '"'), (f"{question}\n", "")):
        start, end = len(before), len(before) + len(answer)
        within = [
            SecretFinding(one.kind, one.start - start, min(one.end, end) - start)
            for one in find(before + answer + after)
            if start <= one.start < end
        ]
        if within:
            return replace_findings(answer, within)
    return answer


def _is_secret(value: Any) -> bool:
    if isinstance(value, str):
        return is_phrase(value, False) if " " in value else is_password(value, True)
    return isinstance(value, int | float) and abs(value) >= _LEAST_SECRET_NUMBER
