"""Add, replace or remove one value in a JSON text; every byte outside it stays as it was.

What is added goes last and is laid out as its neighbours are. Removing it again, whatever was
edited around it meanwhile, is the exact inverse: from its comma to its end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from holdfast.setup.json_places import Path, Place, children, find, root


@dataclass(frozen=True, slots=True)
class Style:
    """How this text is laid out: line end, one step of indent, the gap after colon and comma."""

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


def add(text: str, path: Path, value: Any, key: str | None = None) -> str:
    """Put a value last in the object (under `key`) or array at `path`."""
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


def remove(text: str, path: Path) -> str:
    """Take out the value at `path` with its comma; the last one out leaves `{}` or `[]`."""
    container, gone = _sure(text, path[:-1]), _sure(text, path)
    inside = children(text, container)
    index = inside.index(gone)
    if len(inside) == 1:
        return _splice(text, container.value_start + 1, "", container.end - 1)
    if index == 0:
        return _splice(text, gone.start, "", inside[1].start)
    comma = text.index(",", inside[index - 1].end)
    return _splice(text, comma, "", gone.end)


def replace(text: str, path: Path, written: str) -> str:
    """Write another value in the place of the one at `path`."""
    place = _sure(text, path)
    return _splice(text, place.value_start, written, place.end)


def is_empty(text: str, path: Path) -> bool:
    return not children(text, _sure(text, path))


def blank_inside(text: str, path: Path) -> str:
    """The white space that an empty container holds."""
    place = find(text, path)
    inner = text[place.value_start + 1 : place.end - 1] if place else ""
    return "" if inner.strip() else inner


def _sure(text: str, path: Path) -> Place:
    place = find(text, path)
    if place is None:
        raise KeyError(path)
    return place


def _lead_of_last(text: str, container: Place, inside: list[Place]) -> str:
    first = len(inside) == 1
    before = container.value_start if first else text.index(",", inside[-2].end)
    return text[before + 1 : inside[-1].start]


def _fill_empty(text: str, container: Place, value: Any, key: str | None, style: Style) -> str:
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
