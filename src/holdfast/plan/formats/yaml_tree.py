"""YAML from its events alone: nothing is constructed, nothing refers to anything else.

Aliases are refused (a few lines of them can stand for more tasks than there are atoms), and so are
tags: what a tag asks for is none of a plan's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml  # type: ignore[import-untyped]

from holdfast.plan.errors import BadPlan, Place
from holdfast.plan.formats.tree import Node, Scalar, check_depth

_AROUND = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentEndEvent)
QUOTE = 'check indents and quotes; text with a colon needs quotes: `title: "Fix: the parser"`'
_WHOLE = re.compile(r"[-+]?\d[\d_]{0,29}")
_NUMBER = re.compile(r"[-+]?\d{1,30}\.\d{0,30}")
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No"), False),
}


def parse(text: str) -> Node:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _document(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as slip:
        problem = " ".join(filter(None, (slip.context, slip.problem)))
        at = _at(slip.problem_mark or slip.context_mark)
        raise BadPlan(f"not YAML: {problem}", at, QUOTE) from None
    except yaml.YAMLError as slip:
        raise BadPlan(f"not YAML: {slip}", hint=QUOTE) from None
    except RecursionError:
        raise BadPlan(
            "nested far too deep", hint="a plan needs tasks and subtasks, no more"
        ) from None


def _document(events: Iterator[Any]) -> Node:
    found = Node(None, Place(1))
    count = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            count += 1
            if count > 1:
                raise BadPlan("a second document begins here", _at_of(event), "one plan per file")
        elif not isinstance(event, _AROUND):
            found = _node(event, events, 1)
    return found


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    place = _at_of(event)
    check_depth(depth, place)
    if isinstance(event, yaml.AliasEvent):
        raise BadPlan(f"an alias (*{event.anchor})", place, "write out what it stands for")
    if event.tag is not None and not event.tag.startswith("tag:yaml.org,2002:str"):
        raise BadPlan(f"a tag ({event.tag})", place, "write the plain value without it")
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
            raise BadPlan("the name of a field is no plain word", _at_of(event), "as in `title: …`")
        name: str = event.value
        if name in found:
            raise BadPlan(f"{name!r} stands here twice", _at_of(event), "keep one of the two")
        found[name] = _node(next(events), events, depth + 1)
    return found


def _scalar(event: Any) -> Scalar:
    """Plain words become numbers and yes or no; whatever is quoted is text."""
    text: str = event.value
    if event.style or event.tag is not None:  # libyaml says "" of a plain word, PyYAML None
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text.replace("_", ""))
    return float(text) if _NUMBER.fullmatch(text) else text


def _at_of(event: Any) -> Place:
    return _at(event.start_mark)


def _at(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1) if mark is not None else Place()
