"""From a tree of values to a plan: every field known, every id once, mistakes named by their line.

`depends` names a task by id, title, label or number, one or several separated by commas. People
write what they see: a title that contains commas itself, `3` for the third task of the list, `T2`
for the task whose title starts with `T2:`, `2-5` and `2 and 3` for several, `all above`. Unclear
references are refused, with the choices. `(after T1)` or ` - after T1` at the end of a title counts
as well if all that it names are tasks; otherwise it is prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain

from holdfast.plan.formats import fields
from holdfast.plan.formats.fields import LONGEST_TITLE, Node, TaskIds, slug
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
_WITHIN = re.compile(r""""[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)|[^,"'`]+|.""")
_MARKS = " \t\"'`*_[]"
_NUMBER = re.compile(r"(?:task|step)?\s*#?\s*(\d{1,5})\.?", re.IGNORECASE)
_LABEL = re.compile(
    r"[\W_]*(\w[\w.-]{0,20}?(?: \d{1,4})?)[*_`]*\s*(?::|\)|\.\s|\s[-\u2013\u2014]\s)"
)
_BETWEEN = re.compile(r"(.{1,40}?)\s*(?:\.{2,3}|[-\u2013\u2014]|\bto\b|\bthrough\b)\s*(.{1,40})")
_JOINED = re.compile(r"\s*(?:\band\b|&|\+|;)\s*")
_ABOVE = re.compile(
    r"(?:all|everything|every task)(?: of)?(?: the)?(?: tasks?)?"
    r"(?: above| before| previous| earlier| others?)?(?: tasks?| ones?)?",
    re.IGNORECASE,
)
# `(after T1)`, `[needs 2, 3]`, `(after T1 lands)` or ` - after T1` at the end of a title.
_BRACKETS = re.compile(
    r"(?:\s*[(\[]|\s[-\u2013\u2014]+\s|[,;]\s)\s*"
    r"(?:after|depends (?:up)?on|needs|requires|blocked by|waits for)\b[\s:]*"
    r"([^()\[\]]{1,200}?)"
    r"(?:\s(?:(?:is|are|has|have|was|were)\s)?(?:been\s)?"
    r"(?:lands?|landed|done|merged|merges|in|finished|complete[ds]?|ready|shipped|ships))?"
    r"[)\]]?[\s.*_`]*$",
    re.IGNORECASE,
)
MOST_SEVERAL = 200_000  # dependencies that ranges stand for: a short line must not take hours
MOST_NAMED = 1000  # tasks that are looked at for one spelt nearly so


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
    return TaskPlan(title, tuple(_resolved(_tasks(items))), description)


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
        wave=fields.read_count(known.get("wave"), "wave"),
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


def _resolved(tasks: list[PlanTask]) -> Iterator[PlanTask]:
    known = References(tasks)
    for task in tasks:
        depends = (*known.of(task), *known.in_brackets(task))
        yield replace(task, depends=tuple(dict.fromkeys(depends)), subtasks=tuple(_siblings(task)))


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


def split_references(text: str) -> list[str]:
    """Split at commas outside of quotation marks."""
    found = [""]
    for one in _WITHIN.findall(text):
        if one == ",":
            found.append("")
        else:
            found[-1] += one
    return [part.strip() for part in found if strip_quotes(part)]


def strip_quotes(text: str) -> str:
    return text.strip(" \t\"'`")


def normalize(text: str) -> str:
    """The text without the characters that set a title off."""
    return text.strip(_MARKS)


def _too_many(task: PlanTask) -> BadPlan:
    words = f"ranges such as `2-5` stand for more than {MOST_SEVERAL:,} dependencies"
    return BadPlan(words, task.place, "write headings such as `## Wave 2` instead")


def _unique(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What each name stands for. Empty names, and those of several tasks, are left out."""
    pairs = list(found)
    counts = Counter(name for name, _ in pairs)
    return {name: task for name, task in pairs if name and counts[name] == 1}


class References:
    def __init__(self, tasks: Sequence[PlanTask]) -> None:
        self._ids = {task.id for task in tasks}
        self._listed = [task.id for task in tasks]
        self._several_left = MOST_SEVERAL
        self._places = {name: at for at, name in enumerate(self._listed)}
        self._titles: dict[str, str] = {}
        for task in tasks:
            self._titles.setdefault(slug(task.title), task.id)
        found = [(label, task) for task in tasks if (label := _LABEL.match(task.title))]
        self._labels = _unique((label[1].casefold(), task.id) for label, task in found)
        bare = [(task.title[label.end() :], task.id) for label, task in found]
        bare += [(task.title, task.id) for task in tasks if _BRACKETS.search(task.title)]
        short = _unique((slug(_BRACKETS.sub("", title)), name) for title, name in bare)
        self._titles = short | self._titles  # `Write it` also means `T2: Write it (after T1)`

    def of(self, task: PlanTask) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for given in task.depends:
            for part, names in self._parts(given, task):
                if not names:
                    raise self._no_task(part, task)
                found.update(dict.fromkeys(names))
        return tuple(found)

    def in_brackets(self, task: PlanTask) -> list[str]:
        """The tasks that brackets at the end of the title name; none if they are prose. A number
        that is the task's own, as in `3. Add servers (needs 3)`, counts something else."""
        brackets = _BRACKETS.search(task.title)
        found: list[str] = []
        for _, names in self._parts(brackets[1], task) if brackets else ():
            if not names or task.id in names:
                return []  # at once: a plan may have 20,000 such titles
            found += names
        return found

    def _parts(self, given: str, task: PlanTask) -> Iterator[tuple[str, list[str]]]:
        """The parts of a text, and the tasks that each means: the whole text is one name, or its
        parts are, or several parts together, because titles may contain commas."""
        if whole := self._one(given):
            yield given, [whole]
            return
        parts = split_references(given)
        while parts:
            ends = range(len(parts), 0, -1) if any(not self._one(part) for part in parts) else (1,)
            taken = next((n for n in ends if self._one(", ".join(parts[:n]))), 0)
            if taken:
                yield parts[0], [self._one(", ".join(parts[:taken]))]
            else:
                several = self._several(parts[0], task)
                self._several_left -= len(several)
                if self._several_left < 0:
                    raise _too_many(task)
                yield parts[0], several
            del parts[: taken or 1]

    def _several(self, wanted: str, task: PlanTask) -> list[str]:
        """The tasks meant by `2-5`, `2 and 3` or `all above`; none if it is something else."""
        name = normalize(wanted)
        if _ABOVE.fullmatch(name):
            return self._listed[: self._places[task.id.rpartition("/")[2]]]
        between = _BETWEEN.fullmatch(name)
        first, last = map(self._one, between.groups()) if between else ("", "")
        if first and last:
            return self._listed[self._places[first] : self._places[last] + 1]
        parts = _JOINED.split(name)
        if len(parts) == 1:
            return []
        found = [[one] if (one := self._one(part)) else self._several(part, task) for part in parts]
        return list(chain(*found)) if all(found) else []

    def _one(self, wanted: str) -> str:
        """The id of the task that is meant; empty if there is none."""
        name = normalize(wanted)
        if name in self._ids:
            return name
        number = _NUMBER.fullmatch(name)
        known = self._titles.get(slug(name)) or self._labels.get(name.casefold())
        if known or not number:
            return known or ""
        at = int(number[1])
        return self._listed[at - 1] if 0 < at <= len(self._listed) else ""

    def _no_task(self, wanted: str, task: PlanTask) -> BadPlan:
        name = normalize(wanted)
        near = get_close_matches(slug(name), sorted(self._ids)[:MOST_NAMED], 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        words = f"task {task.id!r} depends on {name!r}, which is no task{meant}"
        count = len(self._listed)
        how = f"name a task by its title, its id, or its number in the list (1 to {count:,})"
        several = "several as `2, 4`, `2-5` or `all above`"
        return BadPlan(words, task.place, f"{how}; {several}")
