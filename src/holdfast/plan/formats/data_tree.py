"""JSON and YAML plans as trees of values that know their line and column.

The standard JSON decoder does not report places. YAML is read from its events alone: nothing is
constructed. Aliases are refused (a few lines of them can stand for more tasks than there are
atoms), and so are tags, which a plan does not need.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import yaml  # type: ignore[import-untyped]

from holdfast.plan.formats.fields import Node, Scalar, check_depth
from holdfast.plan.task import BadPlan, PlanPosition

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

JSON_HINT = (
    "check quotes and commas: names and text stand in double quotes, no comma after the last"
)
_AROUND = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentEndEvent)
YAML_HINT = 'check indents and quotes; text with a colon needs quotes: `title: "Fix: the parser"`'
_WHOLE = re.compile(r"[-+]?\d[\d_]{0,29}")
_NUMBER = re.compile(r"[-+]?\d{1,30}\.\d{0,30}")
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No"), False),
}


def parse_json(text: str) -> Node:
    """Parse JSON. The standard decoder checks it first, so the walk sees only valid JSON."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=_parse_int)
    except json.JSONDecodeError as error:
        raise BadPlan(
            f"not JSON: {error.msg}", PlanPosition(error.lineno, error.colno), JSON_HINT
        ) from None
    except ValueError as error:
        raise BadPlan(f"not JSON: {error}", hint=JSON_HINT) from None
    except RecursionError:
        raise BadPlan(
            "the plan is nested too deep", hint="a plan needs tasks and subtasks, no more"
        ) from None
    walk = _Walk(text)
    node, _ = walk.value(walk.skip(0), 1)
    return node


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not a number that JSON allows")


def _parse_int(digits: str) -> int:
    """Refuse very long numbers ourselves: Python's own error text would not help the user."""
    if len(digits) > 30:
        raise ValueError("a number has more than 30 digits")
    return int(digits)


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        lengths = (len(line) for line in text.split("\n"))
        self.starts = [0, *accumulate(length + 1 for length in lengths)]

    def place(self, at: int) -> PlanPosition:
        line = bisect_right(self.starts, at)
        return PlanPosition(line, at - self.starts[line - 1] + 1)

    def skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        """The value that starts here, and where it ends."""
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

    def _list(self, at: int, depth: int, place: PlanPosition) -> tuple[Node, int]:
        items: list[Node] = []
        at = self.skip(at)
        while self.text[at] != "]":
            item, at = self.value(at, depth + 1)
            items.append(item)
            at = self._after(at)
        return Node(items, place), at + 1

    def _mapping(self, at: int, depth: int, place: PlanPosition) -> tuple[Node, int]:
        found: dict[str, Node] = {}
        at = self.skip(at)
        while self.text[at] != "}":
            key_place = self.place(at)
            name, at = self._name(at)
            if name in found:
                raise BadPlan(
                    f"the field {name!r} is there twice", key_place, "keep one of the two"
                )
            found[name], at = self.value(self.skip(self.skip(at) + 1), depth + 1)
            at = self._after(at)
        return Node(found, place), at + 1

    def _name(self, at: int) -> tuple[str, int]:
        found: tuple[str, int] = _DECODER.raw_decode(self.text, at)
        return found

    def _after(self, at: int) -> int:
        """The position after the comma, if there is one."""
        at = self.skip(at)
        return self.skip(at + 1) if self.text[at] == "," else at


def parse_yaml(text: str) -> Node:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _document(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        problem = " ".join(filter(None, (error.context, error.problem)))
        at = _at(error.problem_mark or error.context_mark)
        raise BadPlan(f"not YAML: {problem}", at, YAML_HINT) from None
    except yaml.YAMLError as error:
        raise BadPlan(f"not YAML: {error}", hint=YAML_HINT) from None
    except RecursionError:
        raise BadPlan(
            "the plan is nested too deep", hint="a plan needs tasks and subtasks, no more"
        ) from None


def _document(events: Iterator[Any]) -> Node:
    found = Node(None, PlanPosition(1))
    count = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            count += 1
            if count > 1:
                raise BadPlan(
                    "a second document begins here", _at_of(event), "write one plan per file"
                )
        elif not isinstance(event, _AROUND):
            found = _node(event, events, 1)
    return found


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    place = _at_of(event)
    check_depth(depth, place)
    if isinstance(event, yaml.AliasEvent):
        words = f"a plan cannot use an alias (*{event.anchor})"
        raise BadPlan(words, place, "write out what it stands for")
    if event.tag is not None and not event.tag.startswith("tag:yaml.org,2002:str"):
        words = f"a plan cannot use a tag ({event.tag})"
        raise BadPlan(words, place, "write the plain value without it")
    if isinstance(event, yaml.SequenceStartEvent):
        return Node(_items(events, depth), place)
    if isinstance(event, yaml.MappingStartEvent):
        return Node(_mapping(events, depth), place)
    return Node(_scalar(event), place)


def _items(events: Iterator[Any], depth: int) -> list[Node]:
    found: list[Node] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        found.append(_node(event, events, depth + 1))
    return found


def _mapping(events: Iterator[Any], depth: int) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        if not isinstance(event, yaml.ScalarEvent):
            words = "the name of a field must be a plain word"
            raise BadPlan(words, _at_of(event), "write it as in `title: …`")
        name: str = event.value
        if name in found:
            raise BadPlan(
                f"the field {name!r} is there twice", _at_of(event), "keep one of the two"
            )
        found[name] = _node(next(events), events, depth + 1)
    return found


def _scalar(event: Any) -> Scalar:
    """Plain words become numbers or booleans; quoted words are text."""
    text: str = event.value
    if event.style or event.tag is not None:  # libyaml says "" of a plain word, PyYAML None
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text.replace("_", ""))
    return float(text) if _NUMBER.fullmatch(text) else text


def _at_of(event: Any) -> PlanPosition:
    return _at(event.start_mark)


def _at(mark: Any) -> PlanPosition:
    return PlanPosition(mark.line + 1, mark.column + 1) if mark is not None else PlanPosition()
