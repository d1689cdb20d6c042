"""Markdown without checkboxes: which of its items are the tasks.

Many plans number their tasks, as a list or as headings, begin each bullet with an id or a bold
title, or list them below a heading such as `## Tasks`. If exactly one such structure is there, or
one contains the others, its items get the boxes that the author left out. Boxes below headings such
as `## Task 2: …` are the steps of that task; other headings above lists only group the tasks. Lines
stay where they are, so that mistakes are named by their line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from string import ascii_lowercase

from holdfast.plan.task import NoTasks, PlanPosition

_BOX = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+\S")
# `2. [x] Review it`, `### [x] Task 2: Review it`, `### Task 2: [x] Review it`
_TICK = re.compile(
    r"((?:[-*+]|\d{1,9}[.)])[ \t]+|#{2,6}[ \t]+(?:[^\[\]]{0,20}[:.)\u2013\u2014-][ \t]+)?)"
    r"\[([ xX])\][ \t]+(\S.*)"
)
_FENCE = re.compile(r"[ \t]*(```+(?=[^`]*$)|~~~+)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
# Headings that divide a plan: what stands below one comes after what stands below the one before.
GROUP_WORDS = "wave|phase|stage|milestone|sprint|iteration|part|week|day"
_PHASE = re.compile(rf"(?:(?:{GROUP_WORDS}|step)[ \t]+|M)\d", re.IGNORECASE)
# A numbered heading that groups tasks rather than being one, if there are lists below it.
_GROUP = re.compile(
    rf"(?:{GROUP_WORDS}|epic|theme|track|block|group|section|chapter|area|stream|[MEP](?=\d))"
    r"[ \t-]*\d",
    re.IGNORECASE,
)
_TASKS = re.compile(
    r"\W*(?:\w+\W+)?(?:tasks?|steps?|to-?dos?|to do|plan|work(?: items)?|backlog|checklist)\W*",
    re.IGNORECASE,
)
# A list below such a heading is about something else than the work.
_OTHER = re.compile(
    r"\b(?:risks?|notes?|questions?|scope|goals?|non-goals?|context|background|criteria|references?"
    r"|links?|rules?|constraints?|assumptions?|definition|symptoms?|motivation|why|overview|summary"
    r"|requirements?|principles?|resources?|appendix|faq|ideas?|wishes|findings?|status|timeline"
    r"|history|alternatives?|decisions?|hints?|tips?|glossary|later|future|done|dependenc(?:y|ies))\b",
    re.IGNORECASE,
)
_DOTTED = r"\d{1,3}(?:\.\d{1,3})+"  # 1.2
_ID = rf"(?:[A-Za-z]{{1,8}}[ -]?)?#?(?:{_DOTTED}|\d{{1,4}}[a-z]?)"
_NUMBERED_HEADING = re.compile(
    rf"(#{{2,6}})[ \t]+(?!(?:{GROUP_WORDS})\b)"
    rf"(?:({_ID})(?:[ \t]*[.:)\u2013\u2014-]+|(?<=\.\d)|(?<=\.\d\d))[ \t]+(\S.*)"
    r"|(?:task|ticket|story|item)[ \t]+#?\d+[ \t]*$)",
    re.IGNORECASE,
)
_TASK_NUMBER = re.compile(r"(?:(?:task|ticket|story|item|step)[ \t]+)?#?(\d+)", re.IGNORECASE)
_TASK_HEADING = re.compile(r"#{2,6}[ \t]+(?:task|ticket|story|work item)[ \t]+#?\d", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d{1,9}[.)])[ \t]+(\S.*)")
_BULLET = re.compile(r"([-*+])[ \t]+(\S.*)")
_NAMED = re.compile(
    r"\*\*\S|(?:[A-Za-z]{1,4}-?\d{1,4})[ \t]*(?:[.:)]|[-\u2013\u2014][ \t])"
    r"|\[?(?:[A-Z]{1,8}-?|#)\d{1,5}\b\S*[ \t]+\S"
)
_LABELLED = re.compile(rf"{_ID}[.:)][ \t]+\S")
_LETTERED = re.compile(r"(?:\*\*)?([A-Za-z])[.)](?:\*\*)?[ \t]+\S")
_BOLD_NUMBER = re.compile(
    r"\*\*(?:\w{1,8}[ \t])?#?(\d{1,4})(?:[.:)]|[ \t][\u2013\u2014-])(?:\*\*)?[ \t]+\S"
)
_DOTTED_ITEM = re.compile(rf"({_DOTTED})[.)]?[ \t]+\S")
HEADINGS = "numbered headings"
LETTERED = "items with a letter"
DOTTED = "items with a number such as 1.2"
BOLD = "paragraphs with a bold number"
TASK_HEADINGS = "numbered headings, with the boxes below as their steps,"
LEAST = 2  # tasks: one numbered line may be anything
MOST_NAME_WORDS = 5  # of a heading that names a section
SOME = 5  # bullets that nothing calls tasks


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
    if all tasks have boxes, or if there are no items that can only be its tasks. A tick in a list
    without boxes marks that one task as done."""
    lines, ticks = _without_ticks(text.split("\n"))
    plain = list(_outside_code(lines))
    chosen = _choose_clear(plain)
    if ticks and not (chosen and ticks.keys() < {line.at for line in chosen.lines}):
        lines, ticks = text.split("\n"), {}
        plain = list(_outside_code(lines))
        chosen = _choose_clear(plain)
    if any(_BOX.match(line.text) for line in plain):
        chosen = _tasks_with_boxes(plain)
    elif chosen is None:
        chosen = _choose([_bullets(plain)])
    if chosen is None:
        return text, ""
    marked = _with_boxes(lines, chosen, plain)
    for at, tick in ticks.items():
        marked[at] = marked[at].replace("[ ]", f"[{tick}]", 1)
    count = len(chosen.lines)
    why = "" if chosen.what == TASK_HEADINGS else "no `- [ ]` in the file: "
    return "\n".join(marked), f"{why}its {count:,} {chosen.what} were taken as tasks"


def _without_ticks(lines: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """The lines without the boxes of items and headings at the left, and what is in each box."""
    matches = {at: match for at, line in enumerate(lines) if (match := _TICK.fullmatch(line))}
    bare = [
        f"{one[1]}{one[3]}" if (one := matches.get(at)) else line for at, line in enumerate(lines)
    ]
    return bare, {at: match[2] for at, match in matches.items()}


def _choose_clear(plain: Sequence[_Line]) -> _Structure | None:
    """The items that number, name or entitle themselves."""
    clear = [_headings(plain), _numbered(plain), _named(plain), *_labelled(plain)]
    return _choose(_without_groups(clear, plain))


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


def _without_groups(
    found: Sequence[_Structure | None], plain: Sequence[_Line]
) -> list[_Structure | None]:
    """The structures without headings that only group the items of a list below them."""
    headings, *lists = found
    if headings is None:
        return list(found)
    bullets = [line for line in plain if _BULLET.match(line.text)]
    for items in (*(one.lines for one in lists if one is not None), tuple(bullets)):
        if _groups(headings, items):
            return [None, *lists]
    return list(found)


def _groups(headings: _Structure, items: Sequence[_Line]) -> bool:
    """Whether the headings divide a list: its numbers go on below the next heading, or each is
    called a group and has several items directly below it."""
    counts = Counter(line.section for line in items)
    own = [line for line in headings.lines if counts[line.section]]
    numbers = [_number(line) for line in items]
    goes_on = all(number and number + 1 == after for number, after in pairwise(numbers))
    if len(own) >= LEAST and goes_on:
        return True
    are_groups = all(_GROUP.match(line.heading) for line in headings.lines)
    return are_groups and any(counts[line.section] >= LEAST for line in own)


def _tasks_with_boxes(plain: Sequence[_Line]) -> _Structure | None:
    """Headings such as `## Task 2: Cut the canvas` with boxes below them. Boxes below any other
    heading are the tasks themselves."""
    found = _headings([line for line in plain if _TASK_HEADING.match(line.text)])
    if found is None or len(found.lines) < LEAST:
        return None
    matches = (_NUMBERED_HEADING.match(line.text) for line in found.lines)
    has_titles = all(match and match[3] for match in matches)
    return replace(found, what=TASK_HEADINGS) if has_titles else None


def _numbered(plain: Sequence[_Line]) -> _Structure | None:
    lines = _sections(plain, _NUMBERED, lambda _: True)
    return _Structure(lines, "numbered items") if lines else None


def _bullets(plain: Sequence[_Line]) -> _Structure | None:
    """Plain bullets, where a heading calls them tasks, or where there are no others."""
    found = [line for line in plain if _TASKS.fullmatch(line.heading) or _PHASE.match(line.heading)]
    lines = _sections(found, _BULLET, lambda _: True) or _all_bullets(plain)
    return _Structure(lines, "bullets") if lines else None


def _is_other(heading: str) -> bool:
    """Whether a heading calls what stands below it something else than tasks. A sentence does not
    (`Once that is done:`)."""
    return len(heading.split()) <= MOST_NAME_WORDS and _OTHER.search(heading) is not None


def _all_bullets(plain: Sequence[_Line]) -> tuple[_Line, ...]:
    """The bullets of all sections that no heading calls something else; the title of the plan calls
    them nothing. A few may be anything."""
    title = next((line.heading for line in plain if line.text.startswith("# ")), None)
    found = [line for line in plain if _BULLET.match(line.text)]
    lines = tuple(one for one in found if one.heading == title or not _is_other(one.heading))
    return lines if len(lines) >= SOME else ()


def _named(plain: Sequence[_Line]) -> _Structure | None:
    """Bullets of sections in which every bullet begins with an id or a bold title."""
    lines = _sections(plain, _BULLET, lambda match: _NAMED.match(match[2]) is not None)
    return _Structure(lines, "bullets with a title") if lines else None


def _labelled(plain: Sequence[_Line]) -> list[_Structure | None]:
    """Lines that begin with a letter (`A.`, `b)`) in the order of the alphabet, with `1.2`, or with
    a number in bold."""
    letters = [(line, found[1].lower()) for line in plain if (found := _LETTERED.match(line.text))]
    in_order = "".join(letter for _, letter in letters) == ascii_lowercase[: len(letters)]
    dotted = [line for line in plain if _DOTTED_ITEM.match(line.text)]
    bold = [line for line in plain if _BOLD_NUMBER.match(line.text)]
    return [
        _Structure(tuple(line for line, _ in letters), LETTERED) if letters and in_order else None,
        _Structure(tuple(dotted), DOTTED) if dotted else None,
        _Structure(tuple(bold), BOLD) if bold else None,
    ]


def _sections(
    plain: Sequence[_Line], pattern: re.Pattern[str], is_task: Callable[[re.Match[str]], bool]
) -> tuple[_Line, ...]:
    """The items of the section called Tasks, or of all phases, or of all sections whose heading
    does not call them something else. A numbered list that goes on below other headings is one."""
    found: list[tuple[_Line, ...]] = []
    for _, lines in groupby(plain, key=lambda line: line.section):
        items = [(line, match) for line in lines if (match := pattern.match(line.text))]
        if items and all(is_task(match) for _, match in items):
            chosen = tuple(line for line, _ in items)
            goes_on = found and _number(found[-1][-1]) + 1 == _number(chosen[0]) > 1
            found[-1:] = [found[-1] + chosen] if goes_on else [*found[-1:], chosen]
    for fits in (_TASKS.fullmatch, _PHASE.match):
        if some := [lines for lines in found if fits(lines[0].heading)]:
            return tuple(line for lines in some for line in lines)
    if len(found) == 1:
        return found[0]
    return tuple(line for lines in found for line in lines if not _is_other(line.heading))


def _number(line: _Line) -> int:
    match = _NUMBERED.match(line.text)
    return int(match[1][:-1]) if match else 0


def _with_boxes(lines: list[str], chosen: _Structure, plain: Sequence[_Line]) -> list[str]:
    marked = list(lines)
    is_heading = chosen.what in (HEADINGS, TASK_HEADINGS)
    numbers = [_number(line) for line in chosen.lines]
    is_rising = all(one < other for one, other in pairwise(numbers))
    for number, line in enumerate(chosen.lines, 1):
        if chosen.what in (LETTERED, DOTTED, BOLD):
            marked[line.at] = f"- [ ] {line.text.strip()}"
        elif is_heading:
            marked[line.at] = _box_heading(marked, line.at, number)
        else:
            is_own = is_rising and numbers[number - 1] != number
            marked[line.at] = _box(line.text, keep_number=is_own)
    if is_heading:
        _indent_texts(marked, chosen, plain)
    return marked


def _box(line: str, keep_number: bool) -> str:
    """An item as a task. A number that is not its place in the list stays in its title."""
    mark, words = line.split(maxsplit=1)
    return f"{mark} [ ] {mark} {words.strip()}" if keep_number else f"{mark} [ ] {words.strip()}"


def _box_heading(marked: list[str], at: int, number: int) -> str:
    """A heading as a task, done if all boxes below it are. Its marks stay: they tell its level.
    Its number is left out if it is that of the task in the list."""
    match = _NUMBERED_HEADING.match(marked[at].rstrip())
    assert match is not None
    below = takewhile(
        lambda line: not _HEADING.match(line), (marked[n] for n in range(at + 1, len(marked)))
    )
    boxes = [box[1] for line in below if (box := _BOX.match(line))]
    mark = "x" if boxes and " " not in boxes else " "
    if not match[3]:
        return f"- [{mark}] {match[1]} {_take_title(marked, at)}"
    told = _TASK_NUMBER.fullmatch(match[2])
    is_place = told is not None and int(told[1]) == number
    words = match[3] if is_place else marked[at].lstrip("# \t")
    return f"- [{mark}] {match[1]} {words.rstrip('# ')}"


def _take_title(marked: list[str], at: int) -> str:
    """The first line below a heading that is only a number (`### Task 3`); it moves up."""
    for below in range(at + 1, len(marked)):
        if words := marked[below].strip():
            if _HEADING.match(words) or _FENCE.match(words):
                break
            marked[below] = ""
            return words.lstrip("-*+ ")
    return marked[at].lstrip("# \t")


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
