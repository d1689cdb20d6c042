"""Where things stand in a JSON text: a path in, positions out.

The reading itself is Python's own strict decoder, one value at a time; a key that is given twice
counts as its last, as it does for JSON.parse.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from holdfast.setup.errors import SettingsBroken

Path = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t\n\r]*")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Place:
    """One value and, for a member, its key: `start` is where the key begins, or the value."""

    key: str | int
    start: int
    value_start: int
    end: int


def read(text: str) -> Any:
    """The whole text as a value; SettingsBroken says line and column."""
    return _root(text)[0]


def root(text: str) -> Place:
    return _root(text)[1]


def children(text: str, place: Place) -> list[Place]:
    """Members or items in the order they are written; none for a plain value."""
    opening, found = text[place.value_start], list[Place]()
    if opening not in "{[":
        return found
    at = _skip(text, place.value_start + 1)
    while text[at] not in "}]":
        child = _member(text, at) if opening == "{" else _item(text, at, len(found))
        found.append(child)
        at = _skip(text, child.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def find(text: str, path: Path) -> Place | None:
    """The value at a path such as ("hooks", "Stop", 0); None where there is none."""
    place = root(text)
    for key in path:
        wanted = "{" if isinstance(key, str) else "["
        same = [child for child in children(text, place) if child.key == key]
        if text[place.value_start] != wanted or not same:
            return None
        place = same[-1]
    return place


def raw(text: str, path: Path) -> str | None:
    """The value as it is written, to the byte."""
    place = find(text, path)
    return None if place is None else text[place.value_start : place.end]


def _root(text: str) -> tuple[Any, Place]:
    start = _skip(text, 1 if text.startswith(_BOM) else 0)
    value, end = _decode(text, start)
    rest = _skip(text, end)
    if rest != len(text):
        raise _broken("more text after the end", text, rest)
    return value, Place("", start, start, end)


def _member(text: str, at: int) -> Place:
    key, key_end = _decode(text, at)
    value_start = _skip(text, text.index(":", key_end) + 1)
    return Place(key, at, value_start, _decode(text, value_start)[1])


def _item(text: str, at: int, index: int) -> Place:
    return Place(index, at, at, _decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as slip:
        raise _broken(slip.msg, text, slip.pos) from None
    except RecursionError:
        raise SettingsBroken("nested too deeply to be read") from None


def _broken(problem: str, text: str, at: int) -> SettingsBroken:
    before = text[:at]
    line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
    if line == 1 and text.startswith(_BOM):
        column -= 1
    return SettingsBroken(f"not valid JSON at line {line}, column {column}: {problem}")


def _refuse_constant(word: str) -> Any:
    raise SettingsBroken(f"not valid JSON: {word} is no JSON value")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)  # Python refuses int() of 5,000


_DECODER = json.JSONDecoder(parse_int=_whole, parse_constant=_refuse_constant)
