"""An answer as it goes out: small, without secrets, quotes fenced, the rest behind a handle.

The client shows the model the structured part alone, as JSON; the words are for everybody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.redact import redact
from holdfast.text import fence

DEEP = 12


@dataclass(frozen=True, slots=True)
class Answer:
    """Fields, and what may be too long for one page: rows `under` a name, or one text that was
    said or written by somebody, whose `origin` is named."""

    words: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    under: str = ""
    rows: Sequence[Mapping[str, Any]] = ()
    text: str = ""
    origin: str = ""


def harmless(value: Any, depth: int = 0) -> Any:
    """The same value: no secret in any text, no live tag, nothing a terminal would act on."""
    if isinstance(value, str):
        return fence.clean(redact(value))
    if depth > DEEP:
        return None
    if isinstance(value, Mapping):
        return {str(k): harmless(v, depth + 1) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [harmless(one, depth + 1) for one in value]
    return value


def quoted(text: str, origin: str) -> str:
    """As reference: who said it, and that it is no instruction."""
    named = origin.replace('"', "'")
    return f"{fence.opening(named)}\n{text}\n{fence.closing()}" if origin else text
