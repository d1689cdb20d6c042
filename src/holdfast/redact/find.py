"""All rules over one text, and the text without what they found."""

from __future__ import annotations

from holdfast.redact import assignment, auth_headers, keys, shapes, shell, tokens
from holdfast.redact.finding import Finding, merged
from holdfast.redact.search_text import Page

INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
PASSES = 3  # a secret glued to another may show only once its neighbour is gone
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SURER_FIRST = (keys.scan, tokens.scan, shapes.scan, auth_headers.scan, shell.scan, assignment.scan)


def find(text: str) -> list[Finding]:
    """The secrets of a text, in order, none overlapping."""
    found = list(_found(text))
    if not text.isascii() and any(mark in text for mark in INVISIBLE):
        found += _found_beneath(text)
    return merged(found)


def _found(text: str) -> Iterator[Finding]:
    page = Page(text)
    return (one for scan in _SURER_FIRST for one in scan(page))


def _found_beneath(text: str) -> Iterator[Finding]:
    """What a reader sees: a character without width in a name or a token hides it from us."""
    kept = [at for at, mark in enumerate(text) if mark not in INVISIBLE]
    for one in _found("".join([text[at] for at in kept])):
        yield Finding(one.kind, kept[one.start], kept[one.end - 1] + 1)


def are_clean(texts: Iterable[str]) -> bool:
    """None holds a secret: looked through as one text, in a tenth of the time."""
    return not find("\n".join(texts))


def which_are_clean(texts: Sequence[str]) -> list[bool]:
    """Of each whether it holds none: looked through together, and in halves where there is one."""
    if not texts or are_clean(texts):
        return [True] * len(texts)
    if len(texts) == 1:
        return [False]
    half = len(texts) // 2
    return which_are_clean(texts[:half]) + which_are_clean(texts[half:])


def redact(text: str) -> str:
    """The text with a short placeholder for each secret; the very same text when there is none."""
    for _ in range(PASSES):
        findings = find(text)
        if not findings:
            break
        text = replaced(text, findings)
    return text


def replaced(text: str, findings: list[Finding]) -> str:
    """The text with a placeholder for each of these."""
    parts: list[str] = []
    at = 0
    for one in findings:
        parts += text[at : one.start], one.placeholder
        at = one.end
    return "".join([*parts, text[at:]])
