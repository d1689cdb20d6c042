"""Find secrets with all rules, and remove them from a text or a JSON value.

In JSON a key such as `password` makes its value secret: a string, a number, and everything in a
list or an object.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.redact import (
    assignment,
    hidden,
    line_breaks,
    shapes,
    shell,
    tables,
    token_prefixes,
)
from holdfast.redact.assignment import is_telling
from holdfast.redact.rule import TABLE_END, SearchPage, SecretFinding, merge_findings
from holdfast.redact.value import is_password, like_a_password, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Rule = Callable[[SearchPage], Iterable[SecretFinding]]

BETWEEN = f"\n{TABLE_END}\n"  # texts that are searched together
REMEMBERED = 96  # long texts; more would hold memory in a server
LONG_CHARS, LONGEST_CHARS = 2_000, 100_000  # of a text whose findings are remembered
SHORTEST_REPEATED = 8  # a shorter value may be a part of any word
MOST_REPEATED = 200  # values of one text
PASSES = 3  # a rule may find a secret only after the one next to it was removed

_RULES_SUREST_FIRST = (
    token_prefixes.scan_keys,
    token_prefixes.scan_tokens,
    shapes.scan,
    token_prefixes.scan_headers,
    shell.scan,
    assignment.scan,
    tables.scan,
    line_breaks.scan,
)
_RULES_FOR_TOKENS = (
    token_prefixes.scan_tokens,
    shapes.scan,
    token_prefixes.scan_headers,
    line_breaks.scan,
)
SHORT_CHARS = 40
_LEAST_SECRET_NUMBER = 100_000  # a smaller one is probably a count
_PLACEHOLDER = SecretFinding("password", 0, 0).placeholder


def find(text: str) -> list[SecretFinding]:
    """Return the secrets of a text in order. They do not overlap."""
    return _find_or_remember(text)


def _find_or_remember(text: str) -> list[SecretFinding]:
    """A hook meets the same long text several times (as a prompt, in the queue, as it is cut), and
    searches it once."""
    if LONG_CHARS <= len(text) <= LONGEST_CHARS:
        return list(_find_once(text))
    return _find(text)


@lru_cache(REMEMBERED)
def _find_once(text: str) -> tuple[SecretFinding, ...]:
    return tuple(_find(text))


def _find(text: str) -> list[SecretFinding]:
    page = SearchPage(text)
    found = list(_search(page))
    for view in hidden.views(page):
        found += map(view.in_text, _search_lines(SearchPage(view.text)))
    return merge_findings([*found, *_search_wrapped(text)])


def _search_lines(page: SearchPage) -> Iterator[SecretFinding]:
    yield from _search(page)
    yield from _search_wrapped(page.text)


def _search(page: SearchPage) -> Iterator[SecretFinding]:
    text = page.text
    for scan in _RULES_SUREST_FIRST:
        for one in _findings_of(scan, page):
            yield line_breaks.extend_over_lines(text, one) if scan in _RULES_FOR_TOKENS else one


def _findings_of(scan: Rule, page: SearchPage) -> list[SecretFinding]:
    """Return what a rule finds. If it raises an error, the other rules still search: everything
    that Holdfast saves and shows is searched, so without them it would do nothing any more."""
    try:
        return list(scan(page))
    except Exception as error:
        import os  # everything that is searched pays for imports of this module

        from holdfast.wire import log

        if "HOLDFAST_RAISE" in os.environ:  # set in tests, so that faults are raised
            raise
        log.add("ERROR", "redact", f"{scan.__module__}: {type(error).__name__} in a text")
        return []


def _search_wrapped(text: str) -> Iterator[SecretFinding]:
    """Join lines that a terminal wrapped at its last column, and search the joined line."""
    if len(text) <= line_breaks.TERMINAL_COLUMNS:
        return
    for start, lines in line_breaks.cut_lines(text):
        # The text has one line end more than the joined line after each full row.
        positions = [start + at + at // line_breaks.TERMINAL_COLUMNS for at in range(len(lines))]
        for one in _search(SearchPage(lines)):
            first, last = positions[one.start], positions[one.end - 1]
            if last - first >= one.end - one.start:  # it contains a line end
                yield SecretFinding(one.kind, first, last + 1)


def are_clean(texts: Iterable[str]) -> bool:
    """Whether no text contains a secret. Short texts are joined: one search takes a tenth of the
    time of many. Long ones were probably searched before."""
    short, long = list[str](), list[str]()
    for text in texts:
        (long if len(text) >= LONG_CHARS else short).append(text)
    return not (find(BETWEEN.join(short)) or any(map(find, long)))


def which_are_clean(texts: Sequence[str]) -> list[bool]:
    """Return for each text whether it is clean. All short ones are searched at once; only those in
    which that finds something are searched alone, because one that ends in `password:` takes the
    next one for a secret. To search each half again took ten times as long where every text has a
    secret. Long ones were probably searched before."""
    found = find(BETWEEN.join(text for text in texts if len(text) < LONG_CHARS))
    clean, at, next_ = [], 0, 0
    for text in texts:
        if len(text) >= LONG_CHARS:
            clean.append(not find(text))
            continue
        end = at + len(text)
        while next_ < len(found) and found[next_].end <= at:
            next_ += 1
        is_suspect = next_ < len(found) and found[next_].start < end
        clean.append(not is_suspect or not find(text))
        at = end + len(BETWEEN)
    return clean


def redact(text: str) -> str:
    """Replace each secret with a short placeholder; return the same text object if there is
    none. A value that the text names in one place is replaced in all places."""
    for _ in range(PASSES):
        findings = find(text)
        if not findings:
            break
        values = {text[one.start : one.end]: one.placeholder for one in findings[:MOST_REPEATED]}
        text = replace_findings(text, findings)
        for value in sorted(values, key=len, reverse=True):  # one may contain another
            if value in text and _is_known_again(value):
                text = text.replace(value, values[value])
    return text


def _is_known_again(value: str) -> bool:
    """Whether a value is a secret also where no name stands beside it."""
    is_long = len(value) >= SHORTEST_REPEATED
    return is_long and (looks_random(value) or like_a_password(value))


def replace_findings(text: str, findings: list[SecretFinding]) -> str:
    """Replace each finding with a placeholder."""
    parts: list[str] = []
    at = 0
    for one in findings:
        parts += text[at : one.start], one.placeholder
        at = one.end
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
        found = [
            SecretFinding(one.kind, one.start - start, min(one.end, end) - start)
            for one in find(before + answer + after)
            if start <= one.start < end
        ]
        if found:
            return replace_findings(answer, found)
    return answer


def _is_secret(value: Any) -> bool:
    if isinstance(value, str):
        return " " not in value and is_password(value, True)
    return isinstance(value, int | float) and abs(value) >= _LEAST_SECRET_NUMBER
