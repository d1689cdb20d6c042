"""From a tree of values to a plan: every field known, every id once, mistakes named by their line.

`depends` names tasks by id, title, label or number. Unclear references are refused, with the
choices. Sentences such as `Depends on T1.` in a title or in the text below it count as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from holdfast.plan.formats import fields
from holdfast.plan.formats.dependency_list import read_dependency_list
from holdfast.plan.formats.fields import LONGEST_TITLE, Node, TaskIds
from holdfast.plan.formats.references import References
from holdfast.plan.formats.stated_dependencies import find_alike, is_independent, read_stated
from holdfast.plan.task import BadPlan, PlanTask, TaskPlan

MOST_TASKS = 20_000
PLAN_FIELDS = ("version", "title", "description", "tasks")
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
    "wave",
    "section",
    "number",
    "done",
)
DEPENDS = (  # other names of the field `depends`
    "depends on",
    "depends upon",
    "after",
    "blocked by",
    "needs",
    "requires",
    "waits for",
    "prerequisite",
    "prerequisites",
    "prereq",
    "prereqs",
)
# Names that people give to a field, and that do not look like its own.
MEANT = {
    **dict.fromkeys(
        ("context", "rules", "notes", "background", "goal", "constraints", "instructions", "body"),
        "description",
    ),
    **dict.fromkeys(("deps", "dependencies", "dependency"), "depends"),
    **dict.fromkeys(("steps", "children"), "subtasks"),
    **dict.fromkeys(("items", "todo", "todos"), "tasks"),
    **dict.fromkeys(("tokens", "size"), "estimate_tokens"),
    **dict.fromkeys(("status", "completed"), "done"),
    **dict.fromkeys(("phase", "stage", "milestone"), "wave"),
    **dict.fromkeys(("file", "paths"), "files"),
}
SAME = {
    **{name.replace(" ", "_"): "depends" for name in DEPENDS},
    "name": "title",
    "estimate": "estimate_tokens",
}


def build_plan(root: Node) -> TaskPlan:
    """Build a plan from a mapping with `tasks`, or from a list of tasks."""
    known = {"tasks": root} if isinstance(root.value, list) else _fields(root, PLAN_FIELDS, "plan")
    _check_version(known.get("version"))
    title = fields.read_text(known.get("title"), "title")
    given = known.get("tasks")
    items = fields.read_items(given, "tasks") if given is not None else []
    if not items:
        raise BadPlan(
            "the plan has no tasks", root.place, 'write them as "tasks": a list of titles'
        )
    if len(items) > MOST_TASKS:
        words = f"{len(items):,} tasks: at most {MOST_TASKS:,} are read"
        raise BadPlan(words, items[MOST_TASKS].place, "make two plans of it")
    description = fields.read_text(known.get("description"), "description").strip()
    return TaskPlan(title, tuple(_resolved(_tasks(items), description)), description)


def _tasks(items: list[Node], parent: str = "") -> list[PlanTask]:
    ids = TaskIds(items)
    return [_task(item, ids, parent) for item in items]


def _task(item: Node, ids: TaskIds, parent: str) -> PlanTask:
    if isinstance(item.value, str):
        item = Node({"title": item}, item.place)
    known = _fields(item, TASK_FIELDS, "task")
    description = fields.read_text(known.get("description"), "description")
    title = fields.read_text(known.get("title"), "title") or description.strip().partition("\n")[0]
    if not title.strip():
        raise BadPlan("a task without a title", item.place, "give it one: `title: Fix the parser`")
    name = fields.read_id(known.get("id")) or ids.made(title)
    groups = fields.read_groups(known.get("groups"))
    files = [*fields.read_files(known.get("files")), *(file for group in groups for file in group)]
    found = PlanTask(
        id=name,
        title=title[:LONGEST_TITLE].strip(),
        description=_described(title, description),
        files=tuple(dict.fromkeys(files)),  # a file of a group is a file of the task
        depends=fields.read_ids(known.get("depends")),
        groups=groups,
        estimate_tokens=fields.read_count(known.get("estimate_tokens"), "estimate_tokens"),
        estimated_files=fields.read_count(known.get("estimated_files"), "estimated_files"),
        keep_together=fields.read_flag(known.get("keep_together"), "keep_together"),
        wave=fields.read_count(known.get("wave"), "wave", least=0),
        section=fields.read_text(known.get("section"), "section"),
        number=fields.read_count(known.get("number"), "number", least=0),
        done=fields.read_flag(known.get("done"), "done"),
        spec=parent or name,
        place=item.place,
    )
    return replace(found, subtasks=_subtasks(known.get("subtasks"), found, parent))


def _described(title: str, description: str) -> str:
    """The description. A title that is too long is repeated here in full."""
    if len(title) > LONGEST_TITLE and not description.startswith(title):
        return f"{title}\n{description}".rstrip()
    return "" if description == title and len(title) <= LONGEST_TITLE else description


def _subtasks(given: Node | None, task: PlanTask, parent: str) -> tuple[PlanTask, ...]:
    if given is None or given.value is None:
        return ()
    if parent:
        words = "a subtask has no subtasks of its own"
        raise BadPlan(
            words, given.place, "write them into its `description`, or as subtasks beside it"
        )
    found = _tasks(fields.read_items(given, "subtasks"), task.id)
    return tuple(replace(one, id=f"{task.id}/{one.id}") for one in found)


def _resolved(tasks: list[PlanTask], description: str) -> Iterator[PlanTask]:
    known = References(tasks)
    stated = {task.id: read_stated(task, known) for task in tasks}
    text = f"{description}\n{tasks[-1].description}"  # what follows the list directly is the last's
    sources = read_dependency_list(text, tasks[-1], known)
    place = {task.id: at for at, task in enumerate(tasks)}
    against: dict[str, str] = {}
    for name, one in stated.items():
        for follower in one.followers:
            if place[follower] > place[name]:
                sources.setdefault(follower, []).append(name)
            else:
                against.setdefault(name, follower)
        for follower, source in one.others:
            sources.setdefault(follower, []).append(source)
    before: PlanTask | None = None
    for task in tasks:
        joins = find_alike(task, before, known)
        before = task
        own, named = stated[task.id], sources.get(task.id, ())
        depends = tuple(dict.fromkeys((*known.of(task), *own.depends, *named)))
        yield replace(
            task,
            depends=depends or ((joins,) if joins and not is_independent(task) else ()),
            unread=own.unread,
            against=against.get(task.id, ""),
            joins=joins,
            is_base=own.is_base,
            is_ordered=own.is_ordered,
            subtasks=tuple(_siblings(task)),
        )


def _siblings(task: PlanTask) -> Iterator[PlanTask]:
    """Steps of one task depend on the step before, besides what they name."""
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
            raise _no_field(given, known, what, value)
        if name in found:
            raise BadPlan(f"{name!r} stands here twice", value.place, "keep one of the two")
        found[name] = value
    return found


def _no_field(given: str, known: tuple[str, ...], what: str, value: Node) -> BadPlan:
    name = MEANT.get(given.lower(), "")
    near = [name] if name in known else get_close_matches(given, known, 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    write = f"write `{near[0]}` instead; " if near else ""
    may = f"{write}a {what} may have: {', '.join(known)}"
    return BadPlan(f"a {what} has no {given!r}{meant}", value.place, may)


def _check_version(node: Node | None) -> None:
    if node is not None and node.value != 1:
        raise BadPlan(
            f"plans of version 1 are read, this says {node.value!r}",
            node.place,
            "write `version: 1`",
        )
