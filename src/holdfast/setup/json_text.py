"""Find and edit values in a JSON text without touching anything else in it.

Python's own strict decoder reads one value at a time. A key that is given twice counts as its last,
as it does for JSON.parse. An edit keeps the layout of its surroundings.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from holdfast.setup.errors import SettingsBroken

JsonPath = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t\n\r]*")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """The position of one value. `start` is where its key begins, or the value if it has no key."""

    key: str | int
    start: int
    value_start: int
    end: int


def read(text: str) -> Any:
    """Parse the whole text; SettingsBroken names line and column."""
    return _root(text)[0]


def root(text: str) -> JsonPlace:
    return _root(text)[1]


def children(text: str, place: JsonPlace) -> list[JsonPlace]:
    """Members or items in the order they are written; none for a plain value."""
    opening, places = text[place.value_start], list[JsonPlace]()
    if opening not in "{[":
        return places
    at = _skip(text, place.value_start + 1)
    while text[at] not in "}]":
        child = _member(text, at) if opening == "{" else _item(text, at, len(places))
        places.append(child)
        at = _skip(text, child.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return places


def find(text: str, path: JsonPath) -> JsonPlace | None:
    """The value at a path such as ("hooks", "Stop", 0); None if there is none."""
    place = root(text)
    for key in path:
        wanted = "{" if isinstance(key, str) else "["
        same = [child for child in children(text, place) if child.key == key]
        if text[place.value_start] != wanted or not same:
            return None
        place = same[-1]
    return place


def raw(text: str, path: JsonPath) -> str | None:
    """The value exactly as it is written."""
    place = find(text, path)
    return None if place is None else text[place.value_start : place.end]


def _root(text: str) -> tuple[Any, JsonPlace]:
    start = _skip(text, 1 if text.startswith(_BOM) else 0)
    value, end = _decode(text, start)
    rest = _skip(text, end)
    if rest != len(text):
        raise _error_at("more text after the end", text, rest)
    return value, JsonPlace("", start, start, end)


def _member(text: str, at: int) -> JsonPlace:
    key, key_end = _decode(text, at)
    value_start = _skip(text, text.index(":", key_end) + 1)
    return JsonPlace(key, at, value_start, _decode(text, value_start)[1])


def _item(text: str, at: int, index: int) -> JsonPlace:
    return JsonPlace(index, at, at, _decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _error_at(error.msg, text, error.pos) from None
    except RecursionError:
        raise SettingsBroken("nested too deeply to be read") from None


def _error_at(problem: str, text: str, at: int) -> SettingsBroken:
    before = text[:at]
    line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
    if line == 1 and text.startswith(_BOM):
        column -= 1
    return SettingsBroken(f"not valid JSON at line {line}, column {column}: {problem}")


def _refuse_constant(word: str) -> Any:
    raise SettingsBroken(f"not valid JSON: {word} is no JSON value")


def _parse_int(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)  # int() refuses 5,000 digits


_DECODER = json.JSONDecoder(parse_int=_parse_int, parse_constant=_refuse_constant)


@dataclass(frozen=True, slots=True)
class Style:
    """The layout of a text: line end, one step of indent, the gap after colon and comma."""

    newline: str
    step: str
    gap: str
    one_line: bool


def style_of(text: str) -> Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    top = root(text)
    first = next(iter(children(text, top)), None)
    if first is None:
        return Style(newline, "  ", " ", one_line=False)
    lead = text[top.value_start + 1 : first.start]
    step = lead.rpartition("\n")[2] if "\n" in lead else "  "
    gap = " " if text[first.value_start - 1].isspace() else ""
    return Style(newline, step, gap, one_line="\n" not in text[top.start : top.end])


def add(text: str, path: JsonPath, value: Any, key: str | None = None) -> str:
    """Append a value to the object (under `key`) or array at `path`."""
    container = _sure(text, path)
    inside = children(text, container)
    style = style_of(text)
    if not inside:
        return _fill_empty(text, container, value, key, style)
    lead = _lead_of_last(text, container, inside)
    if "\n" not in lead:
        return _splice(text, inside[-1].end, f",{style.gap}{_inline(value, key, style)}")
    indent = lead.rpartition("\n")[2]
    new = f",{style.newline}{indent}{_lines(value, key, style, indent)}"
    return _splice(text, inside[-1].end, new)


def remove(text: str, path: JsonPath) -> str:
    """Remove the value at `path` with its comma; removing the last one leaves `{}` or `[]`."""
    container, gone = _sure(text, path[:-1]), _sure(text, path)
    inside = children(text, container)
    index = inside.index(gone)
    if len(inside) == 1:
        return _splice(text, container.value_start + 1, "", container.end - 1)
    if index == 0:
        return _splice(text, gone.start, "", inside[1].start)
    comma = text.index(",", inside[index - 1].end)
    return _splice(text, comma, "", gone.end)


def replace(text: str, path: JsonPath, written: str) -> str:
    """Replace the value at `path`."""
    place = _sure(text, path)
    return _splice(text, place.value_start, written, place.end)


def is_empty(text: str, path: JsonPath) -> bool:
    return not children(text, _sure(text, path))


def blank_inside(text: str, path: JsonPath) -> str:
    """The white space inside an empty object or array."""
    place = find(text, path)
    inner = text[place.value_start + 1 : place.end - 1] if place else ""
    return "" if inner.strip() else inner


def _sure(text: str, path: JsonPath) -> JsonPlace:
    place = find(text, path)
    if place is None:
        raise KeyError(path)
    return place


def _lead_of_last(text: str, container: JsonPlace, inside: list[JsonPlace]) -> str:
    first = len(inside) == 1
    before = container.value_start if first else text.index(",", inside[-2].end)
    return text[before + 1 : inside[-1].start]


def _fill_empty(text: str, container: JsonPlace, value: Any, key: str | None, style: Style) -> str:
    if style.one_line:
        new = _inline(value, key, style)
    else:
        line = text[text.rfind("\n", 0, container.start) + 1 : container.start]
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        inner = _lines(value, key, style, indent + style.step)
        new = f"{style.newline}{indent}{style.step}{inner}{style.newline}{indent}"
    return _splice(text, container.value_start + 1, new, container.end - 1)


def _inline(value: Any, key: str | None, style: Style) -> str:
    body = json.dumps(value, ensure_ascii=False, separators=(f",{style.gap}", f":{style.gap}"))
    return body if key is None else f"{json.dumps(key)}:{style.gap}{body}"


def _lines(value: Any, key: str | None, style: Style, indent: str) -> str:
    separators = (",", f":{style.gap}")
    body = json.dumps(value, ensure_ascii=False, indent=style.step, separators=separators)
    body = body.replace("\n", style.newline + indent)
    return body if key is None else f"{json.dumps(key)}:{style.gap}{body}"


def _splice(text: str, start: int, new: str, end: int | None = None) -> str:
    return text[:start] + new + text[start if end is None else end :]
