"""Ids of the tasks of one list: those that were given stand, those we make step aside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from holdfast.plan.errors import BadPlan, Place
from holdfast.plan.formats import fields
from holdfast.plan.formats.fields import LONGEST_ID
from holdfast.plan.formats.tree import Node
from holdfast.redact import redact

LONGEST_TITLE = 1_000
_NO_WORD = re.compile(r"[^\w]+")


def slug(title: str) -> str:
    """`Add login!` is `add-login`."""
    return _NO_WORD.sub("-", title.lower()).strip("-")[:LONGEST_ID]


class Ids:
    def __init__(self, items: Sequence[Node]) -> None:
        self._taken: dict[str, Place] = {}
        self._numbered: Counter[str] = Counter()  # a plan may say one title 20,000 times
        for item in items:
            self._take_given(item)

    def _take_given(self, item: Node) -> None:
        node = item.value.get("id") if isinstance(item.value, dict) else None
        name = fields.given_id(node)
        if node is None or not name:
            return
        if name in self._taken:
            first = self._taken[name]
            words = f"two tasks have the id {name!r}; the first is at {first}"
            raise BadPlan(words, node.place, "give one of them another id, or none")
        self._taken[name] = node.place

    def made(self, title: str) -> str:
        """The title's words; a second task of the same title gets a number. An id is written down
        and shown: no secret of a title is in it."""
        name = stem = slug(redact(title[:LONGEST_TITLE])) or "task"
        while name in self._taken:
            self._numbered[stem] += 1
            name = f"{stem}-{self._numbered[stem] + 1}"
        self._taken[name] = Place()
        return name
