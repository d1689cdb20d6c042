"""Task lists in Markdown: `- [ ] T1 title` with indented fields. markdown-it-py finds the lists, so
boxes in code blocks, quotations and comments are no tasks.

A document is a plan if at least half of its sections hold a task, or if the tasks stand below a
heading `Tasks`. Everything outside the tasks is context.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.token import Token

from holdfast.plan.task import CONVERT, BadPlan, Fields, TaskTree

DEEPEST = 2  # tasks and their subtasks; boxes below are lines of a subtask
_BOX = re.compile(r"\[([ xX])\][ \t]+(.*)")
_FIELD = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(files|depends|size|phase|split)[ \t]*:[ \t]*(.*)", re.IGNORECASE
)
# `T013`, `1.2`, `1.`, `API-2:`; other words of letters and digits (`OAuth2 login`) are titles
_ID = re.compile(
    r"(?:(T\d+[a-z]?|\d+(?:\.\d+)+)[.:)]?|((?:[A-Za-z]+-?)?\d+[a-z]?)[.:)])[ \t]+"
    r"(?:[-\u2013\u2014][ \t]+)?"
)
_PARALLEL = re.compile(r"(?<!\S)\[P\](?:[ \t]+|$)")
_TASKS_HEADING = re.compile(r"tasks(?::.*)?", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:.*\n)*?---[ \t]*\n")


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    line: int  # from 0, as in all of this module


@dataclass(slots=True)
class _Item:
    """A list item with a box: its lines, those of its paragraphs, and the boxes in it."""

    start: int
    end: int
    done: bool
    title: str
    number: str  # of a numbered list
    paragraphs: set[int] = field(default_factory=set)
    steps: list[_Item] = field(default_factory=list)
    above: list[_Heading] = field(default_factory=list)

    def section(self, title: _Heading | None) -> str:
        return " > ".join(heading.title for heading in self.above if heading is not title)


@dataclass(frozen=True, slots=True)
class _Document:
    """Its lines are without comments; its headings begin with `#`, however they were written."""

    lines: list[str]
    headings: list[_Heading] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)
    paragraphs: set[int] = field(default_factory=set)  # lines of those outside all tasks


def parse_markdown(text: str) -> TaskTree:
    """The tasks of a document; BadPlan if it is about something else."""
    document = _document(text)
    start, end = _tasks_section(document)
    items = [item for item in document.items if start <= item.start < end]
    if not items:
        raise BadPlan("no task in it: a task is a line `- [ ] what to do`", hint=CONVERT)
    if end > len(document.lines):
        _check_sections(document)
    title = _title(document.headings, items[0])
    tasks = [_fields(document.lines, item, item.section(title)) for item in items]
    outside = _outside(document, items, title)
    fields = [(at, line) for at, line in outside if at in document.paragraphs]
    notes = tuple(_find_lost_fields(fields, items[0].start))
    context = _context(outside, {heading.line for heading in document.headings})
    return TaskTree(title.title if title else "", context, tasks, notes)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").disable("inline")


def _document(text: str) -> _Document:
    text = _FRONT_MATTER.sub(lambda match: "\n" * match[0].count("\n"), text)
    document = _Document(text.split("\n"))
    opened: list[_Item | None] = []  # the list items around a token; None: without a box
    above: list[_Heading] = []
    quotes = 0
    tokens = _parser().parse(text)
    for at, token in enumerate(tokens):
        around = [item for item in opened if item]
        if token.type == "heading_open" and token.level == 0 and token.map:
            heading = _Heading(
                int(token.tag[1:]), " ".join(tokens[at + 1].content.split()), token.map[0]
            )
            document.headings.append(heading)
            above = [*(other for other in above if other.level < heading.level), heading]
            _replace(document, token.map, f"{'#' * heading.level} {heading.title}")
        elif token.type == "html_block" and token.map:
            text = "\n".join(document.lines[slice(*token.map)])
            _replace(document, token.map, _COMMENT.sub("", text))
        elif token.type in ("blockquote_open", "blockquote_close"):
            quotes += token.nesting
        elif token.type == "list_item_open":
            is_read = len(around) < DEEPEST and not quotes
            item = _item(token, tokens[at + 1 : at + 3]) if is_read else None
            opened.append(item)
            if item:
                item.above = above
                (around[-1].steps if around else document.items).append(item)
        elif token.type == "list_item_close":
            opened.pop()
        elif token.type == "paragraph_open" and token.map:
            (around[-1] if around else document).paragraphs.update(range(*token.map))
    return document


def _replace(document: _Document, place: Sequence[int], text: str) -> None:
    """Write other text in these lines. No other line moves."""
    start, end = place
    lines = text.split("\n")
    document.lines[start:end] = [*lines, *[""] * (end - start - len(lines))]


def _item(token: Token, inner: Sequence[Token]) -> _Item | None:
    text = inner[1].content if [part.type for part in inner] == ["paragraph_open", "inline"] else ""
    match = _BOX.match(text)
    if match is None or token.map is None:
        return None
    number = f"{token.info}. " if token.info else ""
    return _Item(token.map[0], token.map[1], match[1] != " ", match[2].strip(), number)


def _tasks_section(document: _Document) -> tuple[int, int]:
    """The lines below a heading `Tasks` that holds a task, else all lines."""
    for at, heading in enumerate(document.headings):
        if _TASKS_HEADING.fullmatch(heading.title):
            rest = document.headings[at + 1 :]
            after = (other.line for other in rest if other.level <= heading.level)
            end = next(after, len(document.lines))
            if any(heading.line < item.start < end for item in document.items):
                return heading.line, end
    return 0, len(document.lines) + 1


def _check_sections(document: _Document) -> None:
    """Refuse a document of which fewer than half of the sections (of the top level) hold a task."""
    levels = Counter(heading.level for heading in document.headings)
    level = min((level for level, count in levels.items() if count > 1), default=0)
    high = [(head.line, head.level) for head in document.headings if head.level <= level]
    places = [item.start for item in document.items]
    held = list[bool]()
    for (start, own), (end, _) in pairwise([(0, 0), *high, (len(document.lines), 0)]):
        holds = bisect_left(places, start) < bisect_left(places, end)
        if own == level or holds:  # text before the first section counts only if it holds a task
            held.append(holds)
    if 2 * sum(held) < len(held):
        verb = "holds" if sum(held) == 1 else "hold"
        words = f"only {sum(held)} of its {len(held)} sections {verb} a task (`- [ ] what to do`)"
        here = "if these are all tasks, put them below a heading `## Tasks`"
        raise BadPlan(f"{words}, so it is not a list of tasks", hint=f"{here}; {CONVERT}")


def _title(headings: Sequence[_Heading], first: _Item) -> _Heading | None:
    """The heading before all tasks that has no other of its level."""
    if not headings or headings[0].line > first.start:
        return None
    title, *rest = headings
    return title if all(heading.level > title.level for heading in rest) else None


def _fields(lines: Sequence[str], item: _Item, section: str) -> Fields:
    title = item.title
    match = _ID.match(title)
    if match:
        title = title[match.end() :]
    name = match or _ID.match(item.number)
    values: dict[str, object] = {
        "id": name[1] or name[2] if name else None,
        "title": _PARALLEL.sub("", title).strip(),
        "done": item.done,
        "parallel": bool(_PARALLEL.search(title)),
    }
    of_steps = {line for step in item.steps for line in range(step.start, step.end)}
    text: list[str] = []
    last = ""  # the field whose list goes on, after a comma
    for at in range(item.start + 1, item.end):
        line = lines[at]
        match = _FIELD.match(line) if at in item.paragraphs else None
        if at in of_steps:
            last = ""
        elif match:
            last = match[1].lower()
            values[last] = f"{values[last]}, {match[2]}" if last in values else match[2]
        elif last and str(values[last]).rstrip().endswith(","):
            values[last] = f"{values[last]} {line}"
        else:
            text.append(line)
            last = ""
    values["description"] = dedent("\n".join(text)).strip()
    steps = tuple(_fields(lines, step, section) for step in item.steps)
    return Fields(values, item.start + 1, section, steps)


def _outside(
    document: _Document, items: Sequence[_Item], title: _Heading | None
) -> list[tuple[int, str]]:
    taken = {line for item in items for line in range(item.start, item.end)}
    if title:
        taken.add(title.line)
    return [(at, line) for at, line in enumerate(document.lines) if at not in taken]


def _context(outside: Sequence[tuple[int, str]], headings: Container[int]) -> str:
    """The text around the tasks, without headings that stand above nothing but tasks."""
    kept: list[tuple[int, str]] = []
    for at, line in [*outside, (-1, "")]:
        if at in headings or at < 0:
            while kept and (kept[-1][0] in headings or not kept[-1][1].strip()):
                kept.pop()
            if kept:
                kept.append((-1, ""))
        kept.append((at, line.rstrip()))
    return "\n".join(line for _, line in kept).strip("\n")


def _find_lost_fields(outside: Sequence[tuple[int, str]], first: int) -> Iterator[str]:
    """Fields that are not indented far enough to belong to the task above them."""
    for at, line in outside:
        match = _FIELD.match(line) if at > first else None
        if match and match[1] in ("files", "depends"):
            words = "is read as text: indent it below its task, as far as the task's first word"
            yield f"line {at + 1}: `{match[1]}:` {words}"
