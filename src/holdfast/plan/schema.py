"""From a tree of values to a plan: every field known, every id once, mistakes by their line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from holdfast.plan import fields
from holdfast.plan.errors import BadPlan, Place
from holdfast.plan.fields import LONGEST_ID
from holdfast.plan.task import Plan, Task
from holdfast.plan.tree import Node
from holdfast.redact import redact

MOST_TASKS = 20_000
LONGEST_TITLE = 1_000
PLAN_FIELDS = ("version", "title", "tasks")
TASK_FIELDS = (
    "id",
    "title",
    "description",
    "files",
    "depends",
    "subtasks",
    "groups",
    "estimate_tokens",
    "estimated_files",
    "keep_together",
    "done",
)
SAME = {"depends_on": "depends", "name": "title"}
_SLUG = re.compile(r"[^\w]+")


def plan(root: Node) -> Plan:
    """A mapping with `tasks`, or just the list of them."""
    known = {"tasks": root} if isinstance(root.value, list) else _fields(root, PLAN_FIELDS, "plan")
    _check_version(known.get("version"))
    title = fields.text(known.get("title"), "title")
    given = known.get("tasks")
    items = fields.items(given, "tasks") if given is not None else []
    if not items:
        raise BadPlan("the plan has no tasks", root.place)
    if len(items) > MOST_TASKS:
        words = f"{len(items):,} tasks: at most {MOST_TASKS:,} are read"
        raise BadPlan(words, items[MOST_TASKS].place)
    return Plan(title, tuple(_resolved(_tasks(items))))


def _tasks(items: list[Node]) -> list[Task]:
    taken: dict[str, Place] = {}
    for item in items:  # ids that were given stand; those we make step aside
        _take_given(item, taken)
    return [_task(item, taken, "") for item in items]


def _take_given(item: Node, taken: dict[str, Place]) -> None:
    node = item.value.get("id") if isinstance(item.value, dict) else None
    name = fields.given_id(node)
    if node is None or not name:
        return
    if name in taken:
        raise BadPlan(f"two tasks have the id {name!r}; the first is at {taken[name]}", node.place)
    taken[name] = node.place


def _task(item: Node, taken: dict[str, Place], parent: str) -> Task:
    if isinstance(item.value, str):
        item = Node({"title": item}, item.place)
    known = _fields(item, TASK_FIELDS, "task")
    description = fields.text(known.get("description"), "description")
    title = fields.text(known.get("title"), "title") or description.strip().partition("\n")[0]
    if not title.strip():
        raise BadPlan("a task needs a title or a description", item.place)
    name = fields.given_id(known.get("id")) or _made_id(title, taken)
    groups = fields.groups(known.get("groups"))
    files = [*fields.files(known.get("files")), *(file for group in groups for file in group)]
    found = Task(
        id=name,
        title=title[:LONGEST_TITLE].strip(),
        description=_described(title, description),
        files=tuple(dict.fromkeys(files)),  # a file of a group is a file of the task
        depends=fields.ids(known.get("depends")),
        groups=groups,
        estimate_tokens=fields.count(known.get("estimate_tokens"), "estimate_tokens"),
        estimated_files=fields.count(known.get("estimated_files"), "estimated_files"),
        keep_together=fields.flag(known.get("keep_together"), "keep_together"),
        done=fields.flag(known.get("done"), "done"),
        spec=parent or name,
        place=item.place,
    )
    return replace(found, subtasks=_subtasks(known.get("subtasks"), found, parent))


def _described(title: str, description: str) -> str:
    """Of a title that is too long for one, all is kept here: it may be all there is to know."""
    if len(title) > LONGEST_TITLE and not description.startswith(title):
        return f"{title}\n{description}".rstrip()
    return "" if description == title and len(title) <= LONGEST_TITLE else description


def _subtasks(given: Node | None, task: Task, parent: str) -> tuple[Task, ...]:
    if given is None or given.value is None:
        return ()
    if parent:
        raise BadPlan("a subtask has no subtasks of its own", given.place)
    taken: dict[str, Place] = {}
    items = fields.items(given, "subtasks")
    for item in items:
        _take_given(item, taken)
    found = [_task(item, taken, task.id) for item in items]
    return tuple(replace(one, id=f"{task.id}/{one.id}") for one in found)


def _made_id(title: str, taken: dict[str, Place]) -> str:
    """The title's words; a second task of the same title gets a number. An id is written down and
    shown: no secret of a title is in it."""
    stem = _SLUG.sub("-", redact(title[:LONGEST_TITLE]).lower()).strip("-")[:LONGEST_ID] or "task"
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}-{count}"
    taken[name] = Place()
    return name


def _resolved(tasks: list[Task]) -> Iterator[Task]:
    """Dependencies by id; a task may also be named by its title."""
    ids = {task.id for task in tasks}
    titles: dict[str, str] = {}
    for task in tasks:
        titles.setdefault(_SLUG.sub("-", task.title.lower()).strip("-")[:LONGEST_ID], task.id)
    for task in tasks:
        named = (_named(one, task, ids, titles) for one in task.depends)
        yield replace(
            task,
            depends=tuple(dict.fromkeys(named)),
            subtasks=tuple(_siblings(task)),
        )


def _named(wanted: str, task: Task, ids: set[str], titles: dict[str, str]) -> str:
    if wanted in ids:
        return wanted
    slug = _SLUG.sub("-", wanted.lower()).strip("-")[:LONGEST_ID]
    if slug in titles:
        return titles[slug]
    near = get_close_matches(wanted, sorted(ids)[:1000], 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise BadPlan(f"task {task.id!r} depends on {wanted!r}, which is no task{hint}", task.place)


def _siblings(task: Task) -> Iterator[Task]:
    """Steps of one task come in the order they are written in, whatever else they wait for."""
    ids = {one.id for one in task.subtasks}
    before = ""
    for one in task.subtasks:
        named = [wanted if wanted in ids else f"{task.id}/{wanted}" for wanted in one.depends]
        for wanted in named:
            if wanted not in ids:
                words = f"subtask {one.id!r} depends on {wanted!r}, which is no step of {task.id!r}"
                raise BadPlan(words, one.place)
        yield replace(one, depends=tuple(dict.fromkeys([*named, *filter(None, (before,))])))
        before = one.id


def _fields(node: Node, known: tuple[str, ...], what: str) -> dict[str, Node]:
    if not isinstance(node.value, dict):
        raise BadPlan(f"a {what} is a mapping, this is {node.kind}", node.place)
    found: dict[str, Node] = {}
    for given, value in node.value.items():
        name = SAME.get(given, given)
        if name not in known:
            near = get_close_matches(given, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it may have: {', '.join(known)}"
            raise BadPlan(f"a {what} has no {given!r}; {hint}", value.place)
        if name in found:
            raise BadPlan(f"{name!r} is said twice", value.place)
        found[name] = value
    return found


def _check_version(node: Node | None) -> None:
    if node is not None and node.value != 1:
        raise BadPlan(f"plans of version 1 are read, this says {node.value!r}", node.place)
