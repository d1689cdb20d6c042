"""A markdown task list as the same kind of tree that JSON and YAML give.

`- [ ] title` at the left is a task, `- [x]` one that is done; what is indented beneath belongs to
it: `files: a.py, b.py`, `depends: …` (or either as a list of bullets), a bullet that is nothing but
paths (files as well), a `- [ ]` of its own (a subtask), or plain words and code blocks (its
description). A box beneath a subtask is a line of that one's description. Tasks below a numbered
heading (`## Wave 2`) are of that wave. Text at the left between two tasks belongs to the upper one,
unless a heading comes before it, or that task is done. A bold line that is no heading is for all
tasks. Everything else in the file is the description of the plan; nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.plan.formats.fields import Node
from holdfast.plan.formats.markdown_item import (
    MarkdownItem,
    add_value,
    find_paths,
    list_of,
    read_left,
    read_line,
    strip_bold,
)
from holdfast.plan.formats.markdown_outline import PlanOutline, is_instruction, level_of
from holdfast.plan.formats.task_structure import no_tasks
from holdfast.plan.task import BadPlan, PlanPosition

_BOX = re.compile(
    r"([ \t]*)(?:[-*+]|(?P<number>\d{1,9})[.)])[ \t]+\[([ xX])\][ \t]+(?P<title>.*\S)[ \t]*"
)
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*\S)[ \t]*")
_HEADING_MARKS = re.compile(r"(#{2,6})[ \t]+")
_FENCE = re.compile(r"([ \t]*)(```+(?=[^`]*$)|~~~+)")
TAB = 4


@dataclass(frozen=True, slots=True)
class _Block:
    """A code block being read, and the task above it; None if it is prose."""

    fence: str
    indent: int
    place: PlanPosition
    item: MarkdownItem | None


@dataclass(frozen=True, slots=True)
class _LeftLine:
    """A line at the left below a task, and where it would stand in the plan's description."""

    item: MarkdownItem
    words: str
    prose_at: int


@dataclass(frozen=True, slots=True)
class _Bullets:
    """A field whose values may follow as bullets with a larger indent."""

    item: MarkdownItem
    indent: int
    values: list[Node]


def parse_markdown(text: str) -> Node:
    lines = text.split("\n")
    reading = _Reading(PlanOutline(has_title=_begins_with_title(lines)))
    for number, line in enumerate(lines, 1):
        reading.line(line.rstrip("\r"), PlanPosition(number))
    reading.end()
    if not reading.tasks:
        raise no_tasks(text)
    tasks = Node([one.node() for one in reading.tasks], PlanPosition(1))
    said = {"title": reading.outline.title, "description": "\n".join(reading.outline.prose)}
    given = {name: Node(words, PlanPosition(1)) for name, words in said.items() if words}
    return Node({**given, "tasks": tasks}, PlanPosition(1))


def _begins_with_title(lines: Sequence[str]) -> bool:
    """Whether the first heading names the plan. One with tasks right below it, and with another of
    its level after them, names only those; so does one below the first task."""
    heads = [(at, level) for at, line in enumerate(lines) if (level := level_of(line))]
    boxes = [at for at, line in enumerate(lines) if _BOX.fullmatch(line)]
    if not heads or not boxes:
        return True
    first, level = heads[0]
    following = heads[1][0] if len(heads) > 1 else len(lines)
    is_section = any(first < at < following for at in boxes)
    return first < boxes[0] and not (is_section and level in (one for _, one in heads[1:]))


class _Reading:
    def __init__(self, outline: PlanOutline) -> None:
        self.outline = outline
        self.tasks: list[MarkdownItem] = []
        self._open: list[MarkdownItem] = []  # the task, then its subtask
        self._block: _Block | None = None
        self._bullets: _Bullets | None = None
        self._last: MarkdownItem | None = None  # the task that text at the left may belong to
        self._left: list[_LeftLine] = []  # that text, as long as no other task follows
        self._wrapped: MarkdownItem | None = (
            None  # the sentence of its title may go on in the next line
        )
        self._is_blank = False  # the line before is empty

    def line(self, line: str, place: PlanPosition) -> None:
        if self._block is not None:
            self._in_block(self._block, line)
        elif fence := _FENCE.match(line):
            indent = _indent(fence.group(1))
            item = self._above(indent)
            self._block = _Block(fence.group(2), indent, place, item)
            self._quote(self._block, line)
        else:
            self._outside(line, place)

    def end(self) -> None:
        if self._block is not None:  # the rest of the plan would silently be lost in it
            words = "a code block begins here and does not end"
            raise BadPlan(words, self._block.place, f"end it with {self._block.fence}")
        self.outline.leave(0)
        self._give_all(self._left)  # below the last task: it may be about all of them

    def _in_block(self, block: _Block, line: str) -> None:
        self._quote(block, line)
        mark = line.strip()
        if mark.startswith(block.fence) and not mark.strip(block.fence[0]):
            self._block = None

    def _quote(self, block: _Block, line: str) -> None:
        """A code block is part of a description, unchanged: of the task above it, or the plan."""
        blanks = len(line) - len(line.lstrip(" \t"))
        words = line[min(blanks, block.indent) :]
        if block.item is None:
            self._at_left(words)
        else:
            block.item.words.append(words)

    def _at_left(self, words: str) -> None:
        """Keep a line that no task is above of: the last task's if another task follows, or if it
        goes on with a paragraph; else the plan's."""
        if self._last is None:
            self.outline.tell(words)
        elif self._is_blank or self._left or words.lstrip()[:3] in ("```", "~~~"):
            self._left.append(_LeftLine(self._last, words, len(self.outline.prose)))
        elif not self._join(self._last, words.strip()):
            self._last.words.append(words.strip())

    def _join(self, item: MarkdownItem, words: str) -> bool:
        """Whether the words go on with the title of the task; they are then added to it."""
        if self._wrapped is not item or self._is_blank or not item.goes_on(words):
            return False
        self._wrapped = item if item.join(words) else None
        return True

    def _end_text(self) -> None:
        """Another task begins: what stood at the left before it belongs to the tasks above. No
        session gets the text of a task that is done, so that is for all others."""
        for left in self._left:
            if not left.item.fields["done"].value:
                read_left(left.item, left.words)
        self._give_all([left for left in self._left if left.item.fields["done"].value])
        self._left.clear()

    def _give_all(self, lines: list[_LeftLine]) -> None:
        for left in reversed(lines):
            self.outline.prose.insert(left.prose_at, left.words)

    def _outside(self, line: str, place: PlanPosition) -> None:
        if box := _BOX.fullmatch(line):
            self._task(box, place)
        elif self.outline.begin(line):
            self._leave_tasks()
        elif self._is_blank and is_instruction(line):
            self._leave_tasks()
            self.outline.tell(line.rstrip())
        elif line.strip():
            self._beneath(line, place)
        self._is_blank = not line.strip()

    def _leave_tasks(self) -> None:
        """What follows belongs to no task above."""
        self._open.clear()
        self._last = None

    def _task(self, box: re.Match[str], place: PlanPosition) -> None:
        indent, done, title = _indent(box[1]), box[3] != " ", box["title"]
        above = self._above(indent)
        self._bullets = None
        if len(self._open) > 1 and above is not None:  # beneath a subtask
            above.words.append(f"- {title} (done)" if done else f"- {title}")
            return
        if heading := _HEADING_MARKS.match(title):  # a heading that is a task
            title = title[heading.end() :]
            self.outline.leave(len(heading[1]))
        title = strip_bold(title)
        item = MarkdownItem(indent, place, {"title": Node(title, place), "done": Node(done, place)})
        if above is None:
            self._end_text()
            self._last = item
        if box["number"]:
            item.fields["number"] = Node(int(box["number"]), place)
        if above is None:
            item.fields |= self.outline.place_task(place)
        self._wrapped = item if item.is_wrapped else None
        (above.below if above else self.tasks).append(item)
        self._open.append(item)

    def _beneath(self, line: str, place: PlanPosition) -> None:
        """Add a line to the innermost task it is indented under; it is prose if there is none."""
        indent = _indent(line[: len(line) - len(line.lstrip())])
        bullet = _BULLET.fullmatch(line)
        if self._bullets is not None and bullet and indent > self._bullets.indent:
            add_value(self._bullets.item, self._bullets.values, bullet.group(2), place)
            return
        self._bullets = None
        item = self._above(indent)
        if item is None:
            self._at_left(line.rstrip())
            return
        if not bullet and self._join(item, line.strip()):
            return
        self._wrapped = None
        if bullet:
            item.bullets_at = item.bullets_at or indent
        if bullet and item.lists(indent) and (files := find_paths(bullet.group(2), place)):
            list_of(item, "files", place).extend(files)
            return
        values = read_line(item, bullet.group(2) if bullet else line.strip(), place)
        self._bullets = _Bullets(item, indent, values) if values is not None else None

    def _above(self, indent: int) -> MarkdownItem | None:
        """The innermost task for this indent."""
        while self._open and self._open[-1].indent >= indent:
            self._open.pop()
        return self._open[-1] if self._open else None


def _indent(blanks: str) -> int:
    return sum(TAB if blank == "\t" else 1 for blank in blanks)
