"""Read a plan: find out its notation, check what its tasks name, and expand their patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from holdfast.plan.data import parse_json, parse_yaml
from holdfast.plan.markdown import parse_markdown
from holdfast.plan.project_files import Begun, expand_patterns
from holdfast.plan.task import (
    BadPlan,
    DependencyCycle,
    Fields,
    NoPlan,
    PlanTask,
    TaskIds,
    TaskPlan,
    make_task,
    slug,
)
from holdfast.text.numbers import listed
from holdfast.wire import places

MOST_BYTES = 8 << 20
MOST_TASKS = 20_000
MOST_NAMED = 12
PARSERS = {
    ".json": parse_json,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
    ".md": parse_markdown,
    ".markdown": parse_markdown,
}
_JSON = re.compile(r"\s*(?:\{|\[\s*[\"{])")
_YAML = re.compile(r"^(?:tasks:|-[ \t]+(?:id|title):)", re.MULTILINE)


def load_plan(path: Path, root: Path | None = None, begun: Begun | None = None) -> TaskPlan:
    """Read and check a plan. Errors name the file and the line.

    `root` is the folder of its files, in which patterns are expanded; `begun` are the files of
    tasks that a run has started.
    """
    try:
        return read_plan(_text(path), path.suffix.lower(), root, begun)
    except BadPlan as error:
        raise error.named(str(path)) from None


def decode_plan(data: bytes, root: Path | None = None) -> TaskPlan:
    """As `load_plan`, for data from stdin."""
    try:
        return read_plan(_decoded(data), "", root)
    except BadPlan as error:
        raise error.named("stdin") from None


def read_plan(
    text: str, suffix: str = "", root: Path | None = None, begun: Begun | None = None
) -> TaskPlan:
    if not text.strip():
        raise NoPlan("the plan is empty")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tree = (PARSERS.get(suffix) or PARSERS[_guess_suffix(text)])(text)
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
            raise NoPlan("no such file" if not path.exists() else "not a plain file")
        data = places.read_small(str(path), MOST_BYTES + 1)
        if not data and path.stat().st_size:
            raise NoPlan("cannot be read: check its permissions")
    except (OSError, ValueError):
        raise NoPlan("cannot be read") from None
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
    """The tasks with the ids of those that they depend on, which may also be named by their title
    or by a first word that no other title has."""
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
    """Raise an error if a task depends on one that is not there, that is of a later phase, or that
    depends on it."""
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
                raise DependencyCycle(words, task.line, "change one of the two phases")
    try:
        TopologicalSorter({task.id: task.depends for task in tasks}).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]  # in the order in which they wait
        lines = ", ".join(f"{name} in line {by_id[name].line}" for name in circle[1:])
        words = f"tasks wait for each other: {' → '.join(circle)} ({lines})"
        raise DependencyCycle(words, by_id[circle[0]].line) from None
