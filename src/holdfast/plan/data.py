"""JSON and YAML plans as fields that know their line.

YAML is checked by its events before anything is built: aliases are refused (a few lines of them can
stand for more tasks than there are atoms), and so is deep nesting. All its scalars are texts, so
that an id `010` stays what it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml  # type: ignore[import-untyped]

from holdfast.plan.task import BadPlan, Fields, NotAPlan, TaskTree

DEEPEST = 12  # a plan needs five
JSON_HINT = "check quotes and commas: names and text stand in double quotes, no comma at the end"
YAML_HINT = 'check indents and quotes; text with a colon needs quotes: `title: "Fix: the parser"`'
TOO_DEEP = "the plan is nested too deep"
DEPTH_HINT = "a plan needs tasks and subtasks, no more"
_TOP = ("version", "title", "description", "tasks")
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\n]')
_STARTS = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_ENDS = (yaml.SequenceEndEvent, yaml.MappingEndEvent)


class LineDict(dict[str, Any]):
    """A mapping that knows the line at which it begins."""

    line = 0


def _with_line(pairs: Iterable[tuple[Any, Any]], line: int) -> LineDict:
    mapping = LineDict()
    mapping.line = line
    for name, value in pairs:
        if not isinstance(name, str):
            raise BadPlan("the name of a field must be a plain word", line)
        if name in mapping:
            raise BadPlan(f"the field {name!r} is there twice", line, "keep one of the two")
        mapping[name] = value
    return mapping


def parse_json(text: str) -> TaskTree:
    lines = _object_lines(text)
    try:
        tree = json.loads(
            text,
            object_pairs_hook=lambda pairs: _with_line(pairs, next(lines, 0)),
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
    except json.JSONDecodeError as error:
        raise BadPlan(f"not JSON: {error.msg}", error.lineno, JSON_HINT) from None
    except RecursionError:
        raise BadPlan(TOO_DEEP, hint=DEPTH_HINT) from None
    return _read_tree(tree)


def _object_lines(text: str) -> Iterator[int]:
    """The line in which each object begins, in the order in which they end."""
    line, opened = 1, list[int]()
    for match in _MARKS.finditer(text):
        if match[0] == "\n":
            line += 1
        elif match[0] == "{":
            opened.append(line)
        elif match[0] == "}" and opened:
            yield opened.pop()


class _Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """Builds texts, lists and mappings, nothing else."""

    def construct_mapping(self, node: Any, deep: bool = False) -> LineDict:
        pairs = [
            (self.construct_object(a, True), self.construct_object(b, True)) for a, b in node.value
        ]
        return _with_line(pairs, node.start_mark.line + 1)


def parse_yaml(text: str) -> TaskTree:
    try:
        _check_events(text)
        tree = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        problem = " ".join(filter(None, (error.context, error.problem)))
        mark = error.problem_mark or error.context_mark
        raise BadPlan(f"not YAML: {problem}", mark.line + 1 if mark else 0, YAML_HINT) from None
    except yaml.YAMLError as error:
        raise BadPlan(f"not YAML: {error}", hint=YAML_HINT) from None
    return _read_tree(tree)


def _check_events(text: str) -> None:
    depth = documents = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        line = event.start_mark.line + 1
        depth += isinstance(event, _STARTS) - isinstance(event, _ENDS)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if isinstance(event, yaml.AliasEvent):
            raise BadPlan(
                f"a plan cannot use an alias (*{event.anchor})", line, "write what it stands for"
            )
        if depth > DEEPEST:
            raise BadPlan(TOO_DEEP, line, DEPTH_HINT)
        if documents > 1:
            raise BadPlan("a second document begins here", line, "write one plan per file")


def _read_tree(tree: object) -> TaskTree:
    top = tree if isinstance(tree, dict) else {"tasks": tree}
    tasks = top.get("tasks")
    if not isinstance(tasks, list):
        raise NotAPlan("no list `tasks`: this is not a plan")
    unknown = [name for name in top if name not in _TOP]
    if unknown:
        line = getattr(tree, "line", 0)
        raise BadPlan(f"a plan has no field {unknown[0]!r}", line, f"it has {', '.join(_TOP)}")
    if str(top.get("version", "1")) != "1":
        raise BadPlan("this version of the format is not known", hint="write `version: 1`")
    texts = (top.get(name) for name in ("title", "description"))
    title, description = (text if isinstance(text, str) else "" for text in texts)
    return TaskTree(title, description, [_fields(task) for task in tasks])


def _fields(given: object, is_step: bool = False) -> Fields:
    if isinstance(given, str):
        return Fields({"title": given})
    if not isinstance(given, LineDict):
        raise BadPlan("each task must be a text or a mapping", hint="write `- title: …`")
    values = {name: None if value in ("", "~", "null") else value for name, value in given.items()}
    steps = values.pop("subtasks", None) or []
    if not isinstance(steps, list):
        raise BadPlan("subtasks must be a list", given.line, "write [a, b]")
    if steps and is_step:
        raise BadPlan("a subtask has no subtasks of its own", given.line, DEPTH_HINT)
    return Fields(values, given.line, steps=tuple(_fields(step, True) for step in steps))
