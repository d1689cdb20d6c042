"""What does not fit an answer waits behind a short handle, while the server lives."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.mcp.reply import Answer, harmless, quoted
from holdfast.wire.errors import HoldfastError

PAGE_CHARS = 6_000  # some 1,700 tokens
MOST_HANDLES = 64


class NoMore(HoldfastError):
    hint = "ask again what you asked first: handles last as long as the server, the newest 64"


@dataclass(frozen=True, slots=True)
class _Rest:
    """Clean already: a secret that is cut in two is not found any more."""

    under: str
    rows: Sequence[Any]
    text: str
    origin: str


class Pages:
    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Rest] = OrderedDict()
        self._given = 0
        self._lock = threading.Lock()

    def first(self, answer: Answer) -> dict[str, Any]:
        fields = harmless(answer.fields)
        rest = _Rest(answer.under, harmless(list(answer.rows)), harmless(answer.text), "")
        return self._page(fields, replace(rest, origin=harmless(answer.origin)))

    def more(self, handle: str) -> dict[str, Any]:
        with self._lock:
            rest = self._kept.get(handle)
        if rest is None:
            raise NoMore(f"nothing waits behind {handle[:40]!r}")
        return self._page({}, rest)

    def knows(self, handle: str) -> bool:
        return handle in self._kept

    def _page(self, fields: Mapping[str, Any], rest: _Rest) -> dict[str, Any]:
        room = max(PAGE_CHARS - _length(fields), PAGE_CHARS // 4)
        count = _fitting(rest.rows, room)
        cut = _cut(rest.text, room)
        page = dict(fields)
        if rest.under:
            page[rest.under] = list(rest.rows[:count])
        if cut:
            page["text"] = quoted(rest.text[:cut].rstrip("\n"), rest.origin)
        left = replace(rest, rows=rest.rows[count:], text=rest.text[cut:])
        if left.rows or left.text:
            page["more"] = self._keep(left)
            page["left"] = f"{len(left.rows)} rows" if left.rows else f"{len(left.text):,} chars"
        return page

    def _keep(self, rest: _Rest) -> str:
        with self._lock:
            self._given += 1
            handle = f"more-{self._given}"
            self._kept[handle] = rest
            while len(self._kept) > MOST_HANDLES:
                self._kept.popitem(last=False)
        return handle


def _fitting(rows: Sequence[Any], room: int) -> int:
    """How many rows there is room for; one at least, or nobody would ever see it."""
    used = 0
    for count, row in enumerate(rows):
        used += _length(row)
        if used > room and count:
            return count
    return len(rows)


def _cut(text: str, room: int) -> int:
    """Where the page ends: at a line's end if one is near."""
    if len(text) <= room:
        return len(text)
    line = text.rfind("\n", room // 2, room)
    return line + 1 if line > 0 else room


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))
