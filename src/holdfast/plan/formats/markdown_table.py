"""A plan as a Markdown table: one row is one task, and the heads of the columns name its fields.

A table is read only if a column is called Task or the like, or if it numbers its rows or names
their dependencies; then the column with the most words has the titles. It is read only in a text
without any other tasks. Columns that name no field become lines of the description (`Owner: Tom`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from holdfast.plan.formats.fields import Node, parse_tokens
from holdfast.plan.formats.markdown_item import strip_bold
from holdfast.plan.formats.references import is_nothing, split_references, strip_quotes
from holdfast.plan.task import PlanPosition

_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_RULE = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")
_CELL = re.compile(r"(?:\\\||`[^`]*`|[^|])*")
_PATH = re.compile(r"\S*(?:/\S*|\.\w{1,6})")
_COLUMNS = {
    **dict.fromkeys(("task", "tasks", "title", "what", "step", "work", "action"), "title"),
    **dict.fromkeys(("#", "id", "no", "nr", "number", "key", "ticket"), "label"),
    **dict.fromkeys(("file", "files", "path", "paths"), "files"),
    **dict.fromkeys(
        ("depends", "depends on", "dependencies", "dependency", "deps", "after", "blocked by"),
        "depends",
    ),
    **dict.fromkeys(("needs", "requires", "prerequisites", "waits for"), "depends"),
    **dict.fromkeys(("done", "status", "state"), "done"),
    **dict.fromkeys(("estimate", "tokens"), "estimate_tokens"),
    **dict.fromkeys(("phase", "wave", "stage", "milestone"), "wave"),
}
_DONE = frozenset(("x", "[x]", "yes", "done", "\u2713", "\u2714", "\u2705", "merged", "closed"))
_OPEN = frozenset(("", "[ ]", "no", "open", "todo", "to do", "pending", "not started", "new"))
_TEXTS = ("description", "summary", "name", "details", "goal", "change")
_FILE_WORDS = frozenset(("file", "files", "path", "paths", "module", "modules"))
_TICK = re.compile(r"\[([ xX])\]\s+")  # before the words of a task
_SHORT = re.compile(r"#?[A-Za-z]{0,8}[ -]?\d{1,5}[.)]?")
LEAST = 2  # rows


def parse_table(text: str) -> Node | None:
    """The plan in the only table with a column of tasks; None if there is none."""
    lines = text.split("\n")
    heads = [at for at, line in enumerate(lines[1:]) if _RULE.fullmatch(line.rstrip("\r"))]
    tables = [at for at in heads if "title" in _fields(lines[at])]
    tables = tables or [at for at in heads if {"label", "depends"} & {*_fields(lines[at])}]
    if len(tables) != 1:
        return None
    first = tables[0] + 2
    count = next((n for n, line in enumerate(lines[first:]) if not _ROW.fullmatch(line)), None)
    last = len(lines) if count is None else first + count
    rows = range(first, last)
    if len(rows) < LEAST:
        return None
    names, cells = _cells(lines[tables[0]]), [_cells(lines[at]) for at in rows]
    fields = _without_numbers(names, _with_titles(_fields(lines[tables[0]]), cells), cells)
    if "title" not in fields:
        return None
    tasks = [_task(names, fields, _cells(lines[at]), PlanPosition(at + 1)) for at in rows]
    prose = [line for line in (*lines[: tables[0]], *lines[last:]) if line.strip()]
    is_titled = bool(prose) and prose[0].startswith("#")
    prose += [lines[at] for at, task in zip(rows, tasks, strict=True) if task is None]
    found = {"tasks": Node([one for one in tasks if one], PlanPosition(first))}
    if is_titled:
        found["title"] = Node(prose[0].lstrip("# "), PlanPosition(1))
    found["description"] = Node("\n".join(prose[is_titled:]), PlanPosition(1))
    return Node(found, PlanPosition(1))


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    found, at = [], 0
    while at <= len(inner):
        cell = _CELL.match(inner, at)
        end = cell.end() if cell else at
        found.append(inner[at:end].replace("\\|", "|").strip())
        at = end + 1
    return found


def _fields(line: str) -> list[str]:
    return [_field(name.strip("*_` ").lower()) for name in _cells(line)]


def _field(name: str) -> str:
    """The field that a column holds: `Test file` and `Module` hold files."""
    is_of_files = bool(name) and name.split()[-1] in _FILE_WORDS
    return _COLUMNS.get(name, "files" if is_of_files else "")


def _with_titles(fields: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The fields, with the titles in the column that has the most words if none is called so."""
    free = [at for at, field in enumerate(fields) if not field]
    if "title" in fields or not free:
        return fields
    sizes = {at: sum(len(row[at]) for row in rows if len(row) > at) for at in free}
    longest = max(sizes, key=lambda at: sizes[at])
    return ["title" if at == longest else field for at, field in enumerate(fields)]


def _without_numbers(
    names: Sequence[str], fields: list[str], rows: Sequence[Sequence[str]]
) -> list[str]:
    """The fields of a table. A column `Step` may only number its rows if another describes them."""
    at = fields.index("title")
    texts = [n for n, name in enumerate(names) if name.strip("*_` ").lower() in _TEXTS]
    is_number = all(_SHORT.fullmatch(row[at]) for row in rows if len(row) > at)
    if not texts or not is_number:
        return fields
    return [
        "label" if n == at else "title" if n == texts[0] else one for n, one in enumerate(fields)
    ]


def _task(
    names: Sequence[str], fields: Sequence[str], cells: Sequence[str], place: PlanPosition
) -> Node | None:
    """A row as a task; None if it has no title. Empty cells say nothing. In a row with an empty
    title, the longest text in a column that is no field is one."""
    told: dict[str, str] = {}
    others: dict[str, str] = {}
    given = zip_longest(names[: len(cells)], fields[: len(cells)], cells, fillvalue="")
    for name, field, cell in given:
        if is_nothing(cell):
            continue
        if field == "files" and "files" in told and _fits(field, cell):
            told["files"] += f", {cell}"
        elif field in told or not field or not _fits(field, cell):
            others[name] = f"{others[name]} {cell}" if name in others else cell
        else:
            told[field] = cell
    free = [name for name, field in zip(names, fields, strict=False) if not field if name in others]
    if "title" not in told and free:
        told["title"] = others.pop(max(free, key=lambda name: len(others[name])))
    if "title" not in told:
        return None
    if tick := _TICK.match(told["title"]):
        told |= {"title": told["title"][tick.end() :], "done": tick[1].strip()}
    words = [f"{name}: {cell}" if name else cell for name, cell in others.items()]
    label = told.pop("label", "")
    if label and not label.isdigit():
        told["title"] = f"{label}: {told['title']}"
    values: dict[str, Node] = {name: _value(name, given, place) for name, given in told.items()}
    if label.isdigit():
        values["number"] = Node(int(label), place)
    if words:
        values["description"] = Node("\n".join(words), place)
    return Node(values, place)


def _fits(field: str, cell: str) -> bool:
    """Whether a cell can be what its column is called: `several` is no file, `M` is no number."""
    if field == "files":
        return all(_PATH.fullmatch(strip_quotes(one)) for one in split_references(cell))
    if field == "estimate_tokens":
        return bool(parse_tokens(cell))
    if field == "done":
        return cell.lower() in _DONE or cell.lower() in _OPEN
    return cell.isdigit() if field == "wave" else True


def _value(name: str, given: str, place: PlanPosition) -> Node:
    if name == "files":
        return Node([Node(strip_quotes(one), place) for one in split_references(given)], place)
    if name == "depends":
        return Node([Node(given, place)], place)
    if name == "done":
        return Node(given.lower() in _DONE, place)
    return Node(int(given) if name == "wave" else strip_bold(given), place)
