"""A JSON value whose keys tell what is secret: also in lists, numbers and objects below them."""

from __future__ import annotations

from holdfast.redact.assignment import is_telling
from holdfast.redact.find import find, redact, replaced
from holdfast.redact.finding import Finding
from holdfast.redact.value import is_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LEAST_NUMBER = 100_000  # a shorter one is a count
_GONE = Finding("password", 0, 0).placeholder


def without_named(value: Any, *, told: bool = False) -> Any:
    """The value, a placeholder in each place that a key above it says is secret."""
    if isinstance(value, dict):
        return {
            key: without_named(inner, told=told or is_telling(key)) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [without_named(inner, told=told) for inner in value]
    return _GONE if told and _is_secret(value) else value


def redact_each(value: Any) -> Any:
    """The same value, and no secret in any of its texts, keys among them."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact_each(key): redact_each(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_each(inner) for inner in value]
    return value


def redact_answer(question: str, answer: str) -> str:
    """The answer without what the question says is secret: "What is the admin password?"."""
    for before, behind in ((f'"{question}"="', '"'), (f"{question}\n", "")):
        start, end = len(before), len(before) + len(answer)
        found = [
            Finding(one.kind, one.start - start, min(one.end, end) - start)
            for one in find(before + answer + behind)
            if start <= one.start < end
        ]
        if found:
            return replaced(answer, found)
    return answer


def _is_secret(value: Any) -> bool:
    if isinstance(value, str):
        return " " not in value and is_password(value, True)
    return isinstance(value, int | float) and abs(value) >= _LEAST_NUMBER
