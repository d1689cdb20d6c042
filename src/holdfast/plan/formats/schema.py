"""From a tree of values to a plan: every field known, every id once, mistakes by their line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from holdfast.plan.errors import BadPlan
from holdfast.plan.formats import fields
from holdfast.plan.formats.ids import LONGEST_TITLE, Ids
from holdfast.plan.formats.references import References
from holdfast.plan.formats.tree import Node
from holdfast.plan.task import Plan, Task

MOST_TASKS = 20_000
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
SAME = {
    "depends_on": "depends",
    "after": "depends",
    "name": "title",
    "estimate": "estimate_tokens",
}


def plan(root: Node) -> Plan:
    """A mapping with `tasks`, or just the list of them."""
    known = {"tasks": root} if isinstance(root.value, list) else _fields(root, PLAN_FIELDS, "plan")
    _check_version(known.get("version"))
    title = fields.text(known.get("title"), "title")
    given = known.get("tasks")
    items = fields.items(given, "tasks") if given is not None else []
    if not items:
        raise BadPlan(
            "the plan has no tasks", root.place, 'write them as "tasks": a list of titles'
        )
    if len(items) > MOST_TASKS:
        words = f"{len(items):,} tasks: at most {MOST_TASKS:,} are read"
        raise BadPlan(words, items[MOST_TASKS].place, "make two plans of it")
    return Plan(title, tuple(_resolved(_tasks(items))))


def _tasks(items: list[Node], parent: str = "") -> list[Task]:
    ids = Ids(items)
    return [_task(item, ids, parent) for item in items]


def _task(item: Node, ids: Ids, parent: str) -> Task:
    if isinstance(item.value, str):
        item = Node({"title": item}, item.place)
    known = _fields(item, TASK_FIELDS, "task")
    description = fields.text(known.get("description"), "description")
    title = fields.text(known.get("title"), "title") or description.strip().partition("\n")[0]
    if not title.strip():
        raise BadPlan("a task without a title", item.place, "give it one: `title: Fix the parser`")
    name = fields.given_id(known.get("id")) or ids.made(title)
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
        words = "a subtask has no subtasks of its own"
        raise BadPlan(
            words, given.place, "write them into its `description`, or as subtasks beside it"
        )
    found = _tasks(fields.items(given, "subtasks"), task.id)
    return tuple(replace(one, id=f"{task.id}/{one.id}") for one in found)


def _resolved(tasks: list[Task]) -> Iterator[Task]:
    known = References(tasks)
    for task in tasks:
        yield replace(task, depends=known.of(task), subtasks=tuple(_siblings(task)))


def _siblings(task: Task) -> Iterator[Task]:
    """Steps of one task come in the order they are written in, whatever else they wait for."""
    known = References([replace(one, id=one.id.rpartition("/")[2]) for one in task.subtasks])
    before = ""
    for one in task.subtasks:
        own = replace(one, depends=tuple(name.removeprefix(f"{task.id}/") for name in one.depends))
        named = [f"{task.id}/{name}" for name in known.of(own)]
        yield replace(one, depends=tuple(dict.fromkeys([*named, *filter(None, (before,))])))
        before = one.id


def _fields(node: Node, known: tuple[str, ...], what: str) -> dict[str, Node]:
    if not isinstance(node.value, dict):
        write = (
            "write `title: …` and its other fields" if what == "task" else "write `tasks:` first"
        )
        raise BadPlan(f"a {what} is a mapping, this is {node.kind}", node.place, write)
    found: dict[str, Node] = {}
    for given, value in node.value.items():
        name = SAME.get(given, given)
        if name not in known:
            near = get_close_matches(given, known, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            may = f"a {what} may have: {', '.join(known)}"
            raise BadPlan(f"a {what} has no {given!r}{meant}", value.place, may)
        if name in found:
            raise BadPlan(f"{name!r} stands here twice", value.place, "keep one of the two")
        found[name] = value
    return found


def _check_version(node: Node | None) -> None:
    if node is not None and node.value != 1:
        raise BadPlan(
            f"plans of version 1 are read, this says {node.value!r}",
            node.place,
            "write `version: 1`",
        )
