"""Read a plan from its file: find out its format, and refuse tasks that wait for each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from holdfast.plan.files.patterns import Begun, expand_patterns
from holdfast.plan.formats import data_tree, markdown_tree, schema, task_structure
from holdfast.plan.formats.markdown_table import parse_table
from holdfast.plan.formats.markdown_text import normalize_markdown
from holdfast.plan.task import BadPlan, DependencyCycle, NoPlan, PlanPosition, PlanTask, TaskPlan
from holdfast.wire import places

MOST_BYTES = 8 << 20
KINDS = {
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".markdown": "markdown",
}
_PARSERS = {
    "json": data_tree.parse_json,
    "yaml": data_tree.parse_yaml,
    "markdown": markdown_tree.parse_markdown,
}
_BOX = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]", re.MULTILINE)
# `- a` and `# a` are YAML as well.
_BULLET = re.compile(
    r"^(?:(?:[*+]|\d{1,9}[.)])[ \t]+\S|-[ \t]+\*\*|#{2,6}[ \t]+(?:[A-Za-z]+[ \t]+)?\S*\d"
    r"|\|[ \t]*:?-|\*\*\S)",
    re.MULTILINE,
)


def load_plan(path: Path, root: Path | None = None, begun: Begun | None = None) -> TaskPlan:
    """Read and check a plan. Errors name the file and the line.

    `root` is the folder of its files, in which patterns are expanded; `begun` are the files of
    tasks that a run has started.
    """
    try:
        return read_plan(_text(path), KINDS.get(path.suffix.lower(), ""), root, begun)
    except BadPlan as error:
        raise error.named(str(path)) from None


def decode_plan(data: bytes, root: Path | None = None) -> TaskPlan:
    """As `load_plan`, for data from stdin."""
    try:
        return read_plan(_decoded(_bounded(data)), "", root)
    except BadPlan as error:
        raise error.named("stdin") from None


def read_plan(
    text: str, kind: str = "", root: Path | None = None, begun: Begun | None = None
) -> TaskPlan:
    if not text.strip():
        raise NoPlan("the plan is empty")
    kind = kind or _kind(text)
    text = normalize_markdown(text) if kind == "markdown" else text
    text, note = task_structure.mark_tasks(text) if kind == "markdown" else (text, "")
    is_table = kind == "markdown" and not note and not _BOX.search(text)
    table = parse_table(text) if is_table else None
    found = schema.build_plan(table or _PARSERS[kind](text))
    if table:
        note = f"no `- [ ]` in the file: the {len(found.tasks):,} rows of its table are the tasks"
    found = replace(found, notes=(note,) if note else ())
    check_cycles(found.tasks)
    return found if root is None else expand_patterns(found, root, begun)


def _kind(text: str) -> str:
    if text.lstrip()[:1] in ("{", "["):
        return "json"
    return "markdown" if _BOX.search(text) or _BULLET.search(text) else "yaml"


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise NoPlan("no such file" if not path.exists() else "not a plain file")
        data = places.read_small(str(path), MOST_BYTES + 1)
    except (OSError, ValueError):
        raise NoPlan("cannot be read") from None
    if not data and path.stat().st_size:
        raise NoPlan("cannot be read: check its permissions")
    return _decoded(_bounded(data))


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise BadPlan(f"larger than {MOST_BYTES >> 20} MB", hint="make two plans of it")
    return data


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        at = _place(data, data.index(b"\0"))
        raise BadPlan("a NUL byte: this is no text", at, "save the plan as UTF-8 text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPlan(
            "not UTF-8", _place(data, error.start), "save the plan as UTF-8 text"
        ) from None


def _place(data: bytes, at: int) -> PlanPosition:
    return PlanPosition(data.count(b"\n", 0, at) + 1)


def check_cycles(tasks: Sequence[PlanTask]) -> None:
    """Raise DependencyCycle with the whole circle if some tasks wait for each other."""
    by_id = {task.id: task for task in tasks}
    _check(((task.id, task.depends) for task in tasks), by_id)
    for task in tasks:
        if task.subtasks:
            within = {one.id: one for one in task.subtasks}
            _check(((one.id, one.depends) for one in task.subtasks), within)


def _check(edges: Iterable[tuple[str, Sequence[str]]], tasks: dict[str, PlanTask]) -> None:
    try:
        TopologicalSorter(dict(edges)).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]  # in the order in which they wait
        place = tasks[circle[0]].place
        raise DependencyCycle(f"tasks wait for each other: {' → '.join(circle)}", place) from None
