"""The answers of tools: small, free of secrets, quotes fenced, and cut into pages.

Claude Code shows the model only the structured part, as JSON; other clients show the words. What
does not fit on a page is kept under a short handle while the server runs.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.redact.find import redact
from holdfast.text import fence

MAX_DEPTH = 12
PAGE_CHARS = 6_000  # some 1,700 tokens
MAX_HANDLES = 64


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Fields, and what may be too long for a page: `rows`, `under` a name, or a quoted `text`."""

    words: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    under: str = ""
    rows: Sequence[Mapping[str, Any]] = ()
    text: str = ""
    origin: str = ""


def sanitize(value: Any, depth: int = 0) -> Any:
    """The same value without secrets, markup tags and terminal control characters."""
    if isinstance(value, str):
        return fence.clean(redact(value))
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {str(k): sanitize(v, depth + 1) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [sanitize(one, depth + 1) for one in value]
    return value


def quote(text: str, origin: str) -> str:
    """Mark a text as a quotation of `origin`, which is reference and not an instruction."""
    opening = fence.opening(origin.replace('"', "'"))
    return f"{opening}\n{text}\n{fence.closing()}" if origin else text


class AnswerPages:
    """What is left to show of long answers, under their handles."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, ToolAnswer] = OrderedDict()
        self._given = 0
        self._lock = threading.Lock()

    def first(self, answer: ToolAnswer) -> dict[str, Any]:
        # Sanitized before it is cut: half a secret is not recognized.
        long = {"rows": sanitize(answer.rows), "text": sanitize(answer.text)}
        named = {"fields": sanitize(answer.fields), "origin": sanitize(answer.origin)}
        return self._page(replace(answer, **named, **long))

    def more(self, handle: str) -> dict[str, Any]:
        """The next page; empty if there is no such handle: only the newest are kept."""
        rest = self._kept.get(handle)
        return self._page(rest) if rest else {}

    def _page(self, rest: ToolAnswer) -> dict[str, Any]:
        page = dict(rest.fields)
        room = max(PAGE_CHARS - _length(page), PAGE_CHARS // 4)
        count, cut = _count_fitting(rest.rows, room), _find_cut(rest.text, room)
        if rest.under:
            page[rest.under] = list(rest.rows[:count])
        if cut:
            page["text"] = quote(rest.text[:cut].rstrip("\n"), rest.origin)
        left = replace(rest, fields={}, rows=rest.rows[count:], text=rest.text[cut:])
        if left.rows or left.text:
            page["more"] = self._keep(left)
            page["left"] = f"{len(left.rows)} rows" if left.rows else f"{len(left.text):,} chars"
        return page

    def _keep(self, rest: ToolAnswer) -> str:
        with self._lock:
            self._given += 1
            handle = f"more-{self._given}"
            self._kept[handle] = rest
            while len(self._kept) > MAX_HANDLES:
                self._kept.popitem(last=False)
        return handle


def _count_fitting(rows: Sequence[Any], room: int) -> int:
    """How many rows fit; at least one, so that every row is shown at some point."""
    used = 0
    for count, row in enumerate(rows):
        used += _length(row)
        if used > room and count:
            return count
    return len(rows)


def _find_cut(text: str, room: int) -> int:
    """Where the page ends: at the end of a line if one is near."""
    if len(text) <= room:
        return len(text)
    line = text.rfind("\n", room // 2, room)
    return line + 1 if line > 0 else room


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))
