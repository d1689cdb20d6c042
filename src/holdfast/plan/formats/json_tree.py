"""JSON with the place of every value, which the standard decoder does not tell."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import accumulate

from holdfast.plan.errors import BadPlan, Place
from holdfast.plan.formats.tree import Node, Scalar, check_depth

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

QUOTE = "check quotes and commas: names and text stand in double quotes, no comma after the last"


def parse(text: str) -> Node:
    """The standard decoder judges the syntax first, so the walk meets only good JSON."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=_whole)
    except json.JSONDecodeError as slip:
        raise BadPlan(f"not JSON: {slip.msg}", Place(slip.lineno, slip.colno), QUOTE) from None
    except ValueError as slip:
        raise BadPlan(f"not JSON: {slip}", hint=QUOTE) from None
    except RecursionError:
        raise BadPlan(
            "nested far too deep", hint="a plan needs tasks and subtasks, no more"
        ) from None
    walk = _Walk(text)
    node, _ = walk.value(walk.skip(0), 1)
    return node


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _whole(digits: str) -> int:
    """Python refuses to read 5,000 digits, in words nobody expects here."""
    if len(digits) > 30:
        raise ValueError("a number of more than 30 digits")
    return int(digits)


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        lengths = (len(line) for line in text.split("\n"))
        self.starts = [0, *accumulate(length + 1 for length in lengths)]

    def place(self, at: int) -> Place:
        line = bisect_right(self.starts, at)
        return Place(line, at - self.starts[line - 1] + 1)

    def skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        """The value that begins here, and where it ends."""
        place, mark = self.place(at), self.text[at]
        check_depth(depth, place)
        if mark == "{":
            return self._mapping(at + 1, depth, place)
        if mark == "[":
            return self._list(at + 1, depth, place)
        scalar, end = self._scalar(at)
        return Node(scalar, place), end

    def _scalar(self, at: int) -> tuple[Scalar, int]:
        found: tuple[Scalar, int] = _DECODER.raw_decode(self.text, at)
        return found

    def _list(self, at: int, depth: int, place: Place) -> tuple[Node, int]:
        items: list[Node] = []
        at = self.skip(at)
        while self.text[at] != "]":
            item, at = self.value(at, depth + 1)
            items.append(item)
            at = self._after(at)
        return Node(items, place), at + 1

    def _mapping(self, at: int, depth: int, place: Place) -> tuple[Node, int]:
        found: dict[str, Node] = {}
        at = self.skip(at)
        while self.text[at] != "}":
            key_place = self.place(at)
            name, at = self._name(at)
            if name in found:
                raise BadPlan(f"{name!r} stands here twice", key_place, "keep one of the two")
            found[name], at = self.value(self.skip(self.skip(at) + 1), depth + 1)
            at = self._after(at)
        return Node(found, place), at + 1

    def _name(self, at: int) -> tuple[str, int]:
        found: tuple[str, int] = _DECODER.raw_decode(self.text, at)
        return found

    def _after(self, at: int) -> int:
        """Past the comma, if there is one."""
        at = self.skip(at)
        return self.skip(at + 1) if self.text[at] == "," else at
