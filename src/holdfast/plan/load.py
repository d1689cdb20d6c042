"""Read a plan: find out its notation, check what its tasks name, and expand their patterns.

YAML is checked by its events before anything is built: aliases are refused (a few lines of them can
stand for more tasks than there are atoms), and so is deep nesting. All scalars of YAML and JSON are
texts, so that an id `010` stays what it is.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from holdfast.plan.markdown import parse_markdown
from holdfast.plan.project_files import Begun, expand_patterns
from holdfast.plan.task import (
    CONVERT,
    NO_PLAN,
    STDIN,
    BadPlan,
    Fields,
    PlanTask,
    TaskIds,
    TaskPlan,
    TaskTree,
    make_task,
    slug,
)
from holdfast.text.numbers import listed
from holdfast.wire import places

MOST_BYTES = 8 << 20
MOST_TASKS = 20_000
MOST_NAMED = 12
SUFFIXES = (".json", ".yaml", ".yml", ".md", ".markdown")
DEEPEST = 12  # a plan needs five
JSON_HINT = "check quotes and commas: names and text stand in double quotes, no comma at the end"
YAML_HINT = 'check indents and quotes; text with a colon needs quotes: `title: "Fix: the parser"`'
TOO_DEEP = "the plan is nested too deep"
DEPTH_HINT = "a plan needs tasks and subtasks, no more"
_TOP = ("version", "title", "description", "tasks")
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\n]')
_STARTS = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_ENDS = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
_JSON = re.compile(r"\s*(?:\{|\[\s*[\"{])")
_YAML = re.compile(r"^(?:tasks:|-[ \t]+(?:id|title):)", re.MULTILINE)


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
        raise BadPlan("no list `tasks`: this is not a plan", hint=CONVERT)
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


PARSERS = {".json": parse_json, ".yaml": parse_yaml, ".yml": parse_yaml}


def load_plan(path: Path, root: Path | None = None, begun: Begun | None = None) -> TaskPlan:
    """Read and check a plan in the folder `root`; `begun` are files of tasks that a run started."""
    try:
        return read_plan(_text(path), path.suffix.lower(), root, begun)
    except BadPlan as error:
        raise error.named(str(path)) from None


def decode_plan(data: bytes, root: Path | None = None) -> TaskPlan:
    try:
        return read_plan(_decoded(data), "", root)
    except BadPlan as error:
        raise error.named(STDIN) from None


def read_plan(
    text: str, suffix: str = "", root: Path | None = None, begun: Begun | None = None
) -> TaskPlan:
    if not text.strip():
        raise BadPlan("the plan is empty", hint=NO_PLAN)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tree = PARSERS.get(suffix if suffix in SUFFIXES else _guess_suffix(text), parse_markdown)(text)
    if len(tree.tasks) > MOST_TASKS:
        raise BadPlan(f"more than {MOST_TASKS:,} tasks", hint="make several plans of it")
    tasks = _resolved(_named(tree.tasks))
    _check_dependencies(tasks)
    plan = TaskPlan(tree.title, tuple(tasks), tree.description, tree.notes)
    return plan if root is None else expand_patterns(plan, root, begun)


def _guess_suffix(text: str) -> str:
    if _JSON.match(text):
        return ".json"
    return ".yaml" if _YAML.search(text) else ".md"


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise BadPlan("no such file" if not path.exists() else "not a plain file", hint=NO_PLAN)
        data = places.read_small(str(path), MOST_BYTES + 1)
        if not data and path.stat().st_size:
            raise BadPlan("cannot be read: check its permissions", hint=NO_PLAN)
    except (OSError, ValueError):
        raise BadPlan("cannot be read", hint=NO_PLAN) from None
    return _decoded(data)


def _decoded(data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise BadPlan(f"larger than {MOST_BYTES >> 20} MB", hint="make two plans of it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadPlan("not UTF-8", line, "save the plan as UTF-8 text") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadPlan("a NUL byte: this is no text", line, "save the plan as UTF-8 text")
    return text


def _named(given: Sequence[Fields]) -> list[PlanTask]:
    """The tasks, each with an id: its own, or one made from its title."""
    tasks = [make_task(fields) for fields in given]
    ids = TaskIds()
    for task in tasks:
        if task.id:
            ids.take(task.id, task.line)
    return list(_with_phases(_with_id(task, ids) for task in tasks))


def _with_id(task: PlanTask, ids: TaskIds, above: str = "") -> PlanTask:
    name = above + (task.id or ids.make(task.title, task.line))
    inner = TaskIds()
    for step in task.subtasks:
        if step.id:
            inner.take(step.id, step.line)
    steps = (_with_id(step, inner, f"{name}/") for step in task.subtasks)
    return replace(task, id=name, spec=above.rstrip("/") or name, subtasks=tuple(steps))


def _with_phases(tasks: Iterable[PlanTask]) -> Iterator[PlanTask]:
    """A task without a phase is in that of the task above it."""
    phase = None
    for task in tasks:
        phase = task.phase if task.phase is not None else phase
        yield replace(task, phase=phase)


def _resolved(tasks: Sequence[PlanTask]) -> list[PlanTask]:
    """The tasks with the ids that they depend on: also named by title, or its first word."""
    ids = {task.id for task in tasks}
    by_name = dict[str, set[str]]()
    for task in tasks:
        for words in (task.title, task.title.partition(" ")[0]):
            by_name.setdefault(slug(words), set()).add(task.id)

    def find_id(name: str) -> str:
        called = by_name.get(slug(name), set())
        return name if name in ids or len(called) != 1 else next(iter(called))

    return [replace(task, depends=tuple(map(find_id, task.depends))) for task in tasks]


def rank(task: PlanTask) -> int:
    """What tasks are ordered by before their places in the file."""
    return -1 if task.phase is None else task.phase


def _check_dependencies(tasks: Sequence[PlanTask]) -> None:
    """Refuse a dependency on a task that is not there, is of a later phase, or waits for it."""
    by_id = {task.id: task for task in tasks}
    for task in tasks:
        for step in task.subtasks:
            if step.depends:
                raise BadPlan("a subtask has no `depends`", step.line, "subtasks are done in order")
        for name in task.depends:
            if name not in by_id:
                words = f"{task.title!r} depends on {name!r}, which names no task, or several"
                known = f"the ids are {listed(list(by_id), MOST_NAMED)}"
                raise BadPlan(words, task.line, f"{known}; give a task one: `- [ ] T1 title`")
            if rank(by_id[name]) > rank(task):
                words = f"{task.title!r} depends on {name!r}, which is in a later phase"
                raise BadPlan(words, task.line, "change one of the two phases")
    try:
        TopologicalSorter({task.id: task.depends for task in tasks}).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]  # in the order in which they wait
        lines = ", ".join(f"{name} in line {by_id[name].line}" for name in circle[1:])
        words = f"tasks wait for each other: {' → '.join(circle)} ({lines})"
        line = by_id[circle[0]].line
        raise BadPlan(words, line, "remove one of these dependencies") from None
