"""Markdown without checkboxes: which of its items are the tasks.

Many plans number their tasks, as a list or as headings, or begin each bullet with an id or a bold
title. If exactly one such structure is there, or one contains the others, its items get the boxes
that the author left out. Lines stay where they are, so that mistakes are named by their line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from holdfast.plan.task import NoTasks, PlanPosition

_BOX = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]+\S")
_FENCE = re.compile(r"[ \t]*(```+(?=[^`]*$)|~~~+)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_PHASE = re.compile(r"(?:wave|phase|stage|step|milestone)[ \t]+\d", re.IGNORECASE)
_TASKS = re.compile(
    r"\W*(?:\w+\W+)?(?:tasks?|steps?|to-?dos?|to do|plan|work(?: items)?|backlog|checklist)\W*",
    re.IGNORECASE,
)
_ID = r"(?:[A-Za-z]{1,8}[ -]?)?#?\d{1,4}[a-z]?"
_NUMBERED_HEADING = re.compile(
    rf"(#{{2,6}})[ \t]+(?!(?:wave|phase|stage|milestone)\b)({_ID})[ \t]*"
    r"[.:)\u2013\u2014-]+[ \t]+(\S.*)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(\d{1,9}[.)])[ \t]+(\S.*)")
_BULLET = re.compile(r"([-*+])[ \t]+(\S.*)")
_NAMED = re.compile(r"\*\*\S|(?:[A-Za-z]{1,4}-?\d{1,4})[ \t]*(?:[.:)]|[-\u2013\u2014][ \t])")
_LABELLED = re.compile(rf"{_ID}[.:)][ \t]+\S")
HEADINGS = "numbered headings"
LEAST = 2  # tasks: one numbered line may be anything


@dataclass(frozen=True, slots=True)
class _Line:
    """A line outside of code blocks: its place, and the heading it stands below."""

    at: int
    text: str
    section: int
    heading: str


@dataclass(frozen=True, slots=True)
class _Structure:
    """Lines that may be the tasks, and what to call them."""

    lines: tuple[_Line, ...]
    what: str

    @property
    def first(self) -> int:
        return self.lines[0].at

    @property
    def last(self) -> int:
        return self.lines[-1].at


def mark_tasks(text: str) -> tuple[str, str]:
    """The text with a box before each task, and a note that says which items were taken; unchanged
    if it has boxes, or no items that can only be its tasks."""
    lines = text.split("\n")
    plain = list(_outside_code(lines))
    if any(_BOX.match(line.text) for line in plain):
        return text, ""
    chosen = _choose([_headings(plain), _numbered(plain), _named(plain)])
    if chosen is None:
        return text, ""
    marked = _with_boxes(lines, chosen, plain)
    count = len(chosen.lines)
    note = f"no `- [ ]` in the file: its {count:,} {chosen.what} were taken as tasks"
    return "\n".join(marked), note


def find_likely(text: str) -> PlanPosition | None:
    """The line that is most likely a task, in a text where nothing is marked as one."""
    plain = list(_outside_code(text.split("\n")))
    for pattern in (_NUMBERED_HEADING, _NUMBERED, _BULLET, _LABELLED):
        found = [line for line in plain if pattern.match(line.text)]
        named = [line for line in found if _TASKS.fullmatch(line.heading)]
        if found:
            return PlanPosition((named or found)[0].at + 1)
    return None


def no_tasks(text: str) -> NoTasks:
    return NoTasks("the plan has no tasks", find_likely(text))


def _outside_code(lines: Sequence[str]) -> Iterable[_Line]:
    fence, section, heading = "", 0, ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if line.strip().startswith(fence) and mark else fence
        elif mark:
            fence = mark[1]
        else:
            if found := _HEADING.match(line):
                section, heading = section + 1, found[2].strip()
            yield _Line(at, line.rstrip("\r"), section, heading)


def _choose(found: Iterable[_Structure | None]) -> _Structure | None:
    """The structure that contains all others; None if two are beside each other. Headings contain
    all that stands below them."""
    some = [one for one in found if one is not None and len(one.lines) >= LEAST]
    for one in some:
        is_heading = one.what == HEADINGS
        if all(one.first <= other.first for other in some) and (
            is_heading or all(other.last <= one.last for other in some)
        ):
            return one
    return None


def _headings(plain: Sequence[_Line]) -> _Structure | None:
    """Numbered headings of one level. Deeper ones belong to their text."""
    found = [(line, match) for line in plain if (match := _NUMBERED_HEADING.match(line.text))]
    if not found:
        return None
    level = min(len(match[1]) for _, match in found)
    lines = tuple(line for line, match in found if len(match[1]) == level)
    return _Structure(lines, HEADINGS)


def _numbered(plain: Sequence[_Line]) -> _Structure | None:
    lines = _sections(plain, _NUMBERED, lambda _: True)
    return _Structure(lines, "numbered items") if lines else None


def _named(plain: Sequence[_Line]) -> _Structure | None:
    """Bullets of sections in which every bullet begins with an id or a bold title."""
    lines = _sections(plain, _BULLET, lambda match: _NAMED.match(match[2]) is not None)
    return _Structure(lines, "bullets with a title") if lines else None


def _sections(
    plain: Sequence[_Line], pattern: re.Pattern[str], is_task: Callable[[re.Match[str]], bool]
) -> tuple[_Line, ...]:
    """The items of a section called Tasks, or of all phases, or of the only section with such."""
    found: list[tuple[_Line, ...]] = []
    for _, lines in groupby(plain, key=lambda line: line.section):
        items = [(line, match) for line in lines if (match := pattern.match(line.text))]
        if items and all(is_task(match) for _, match in items):
            found.append(tuple(line for line, _ in items))
    for fits in (_TASKS.fullmatch, _PHASE.match):
        if chosen := [lines for lines in found if fits(lines[0].heading)]:
            return tuple(line for lines in chosen for line in lines)
    return found[0] if len(found) == 1 else ()


def _with_boxes(lines: list[str], chosen: _Structure, plain: Sequence[_Line]) -> list[str]:
    marked = list(lines)
    is_heading = chosen.what == HEADINGS
    for number, line in enumerate(chosen.lines, 1):
        marked[line.at] = _box_heading(line.text, number) if is_heading else _box(line.text)
    if is_heading:
        _indent_texts(marked, chosen, plain)
    return marked


def _box(line: str) -> str:
    mark, _, words = line.partition(" ")
    return f"{mark} [ ] {words.strip()}"


def _box_heading(line: str, number: int) -> str:
    """A heading as a task. Its number is left out if it is that of the task in the list."""
    match = _NUMBERED_HEADING.match(line)
    assert match is not None
    words = match[3] if match[2] == str(number) else line.lstrip("# \t")
    return f"- [ ] {words.rstrip('# ')}"


def _indent_texts(marked: list[str], chosen: _Structure, plain: Sequence[_Line]) -> None:
    """Indent what stands below each heading, up to the next one of its level or above."""
    level = len(chosen.lines[0].text) - len(chosen.lines[0].text.lstrip("#"))
    own = {line.at for line in chosen.lines}
    ends = {
        line.at
        for line in plain
        if (found := _HEADING.match(line.text)) and len(found[1]) <= level and line.at not in own
    }
    is_inside = False
    for at, line in enumerate(marked):
        is_inside = at in own or (is_inside and at not in ends)
        if is_inside and at not in own and line.strip():
            marked[at] = f"  {line}"
