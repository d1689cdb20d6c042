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
from dataclasses import dataclass, field
from difflib import get_close_matches

from holdfast.plan.formats.fields import LONGEST_TITLE, Node, parse_tokens
from holdfast.plan.formats.references import split_references, strip_quotes
from holdfast.plan.formats.schema import DEPENDS
from holdfast.plan.formats.task_structure import GROUP_WORDS, no_tasks
from holdfast.plan.task import BadPlan, PlanPosition

_BOX = re.compile(
    r"([ \t]*)(?:[-*+]|(?P<number>\d{1,9})[.)])[ \t]+\[([ xX])\][ \t]+(?P<title>.*\S)[ \t]*"
)
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*\S)[ \t]*")
_FIELD = re.compile(r"([A-Za-z][A-Za-z_ -]{0,24}):[ \t]*(.*)")
_BOLD = re.compile(r"(\*\*|__)([\w -]{1,25}?)(?::\1|\1:)")  # **Files:** or **Files**:
# `**Cut** the sail`, but not `sails/**/*.py`.
_BOLD_WORDS = re.compile(r"(?<![^\s(])\*\*(?=[\w`\"'(])(.{1,300}?)\*\*(?![\w/])")
_SENTENCE = re.compile(r"(.*?[.!?][)\"'`]*)\s+(?=[A-Z`*(])(.*)")
_ENDS = ".!?:;"
WRAPPED = 60  # characters: a title at least so long that ends no sentence goes on in the next line
_FENCE = re.compile(r"([ \t]*)(```+(?=[^`]*$)|~~~+)")
# A heading such as `## Wave 2: build`; the tasks below it wait for those of the wave before.
_WAVE_NAME = re.compile(rf"(?:(?:{GROUP_WORDS}|step)[ \t]+|M)(\d{{1,4}})\b", re.IGNORECASE)
_WAVE = re.compile(rf"(#{{1,7}})[ \t]+(?:{_WAVE_NAME.pattern})?", re.IGNORECASE)
_HEADING = re.compile(r"(#{1,7})(?!#|\d)[ \t]*(.*)")  # `#402 is closed` is none
# `**Phase 2: build**` alone in its line is a heading; `**Never on Friday**` is an instruction.
_BOLD_LINE = re.compile(r"(?:\*\*|__)([^*_][^*]*)(?:\*\*|__)[:.!]?[ \t]*")
_BOLD_HEADING = re.compile(r"[^.!?]{0,100}[^.!?]")
_INSTRUCTION = re.compile(
    r"\b(?:do|don\W?t|not|never|always|must|mustn\W?t|should|may|only|no|please|keep|use|make sure"
    r"|ensure|avoid|note|important|warning|caution|attention|remember|stop|leave|ask)\b",
    re.IGNORECASE,
)
BOLD_LEVEL = 7  # below all other headings
BETWEEN_HEADINGS = " \u203a "
_BLANK = re.compile(r"[_ -]+")
TAB = 4
_LISTS = {"files": "files", "depends": "depends", **dict.fromkeys(DEPENDS, "depends")}
_NUMBERS = {
    "estimate": "estimate_tokens",
    "estimate tokens": "estimate_tokens",
    "estimated files": "estimated_files",
}
_YES_OR_NO = ("", "yes", "no", "true", "false")
_EFFORT = re.compile(  # an estimate in time, points or sizes: words for the session
    r"[~\u2248]?\s*(?:about\s)?(?:[\d.,/\u2013-]+\s*(?:h|hrs?|hours?|d|days?|w|weeks?|mins?|minutes?"
    r"|points?|pts?|sp)|x{0,3}[sml]|small|medium|large|half a day|tbd|\?+)\b.*|\?+",
    re.IGNORECASE,
)
_TOGETHER = frozenset({"keep together", "keep_together"})
# Names that a misspelt one is compared with. `needs` is not one of them: `dense` has its letters.
_NAMES = ("files", "depends", "depends on", "after", *_NUMBERS, "group", "keep together", "id")
_AT_LEFT = ("files", "depends", "depends on")
_MEANT = dict.fromkeys(("deps", "dependency", "dependencies"), "depends")
# A path with a folder, and with a suffix, a pattern or a slash at its end: `and/or` is not one.
_PATH = re.compile(
    r"(?!\.\./)(?:[\w.@+*?\[\]-]+/)+(?:[\w.@+?\[\]-]*(?:\*[^/\s]*|\w\.[A-Za-z]\w*))?"
)
_ALIKE = 0.85  # `fils` and `file` are `files`; `fixes` and `fields` are words of their own


@dataclass(slots=True)
class _Item:
    """A task being read."""

    indent: int
    place: PlanPosition
    fields: dict[str, Node]
    words: list[str] = field(default_factory=list)
    below: list[_Item] = field(default_factory=list)
    bullets_at: int = 0  # the indent of the first bullet below it

    def lists(self, indent: int) -> bool:
        """Whether a bullet belongs to the task itself. It does not below another bullet, nor after
        a line that introduces a list of its own (`Do not change:`)."""
        return indent <= self.bullets_at and not any(line.endswith(":") for line in self.words)

    def node(self) -> Node:
        found = dict(self.fields)
        if self.words:
            found["description"] = Node("\n".join(self.words), self.place)
        if self.below:
            found["subtasks"] = Node([one.node() for one in self.below], self.place)
        return Node(found, self.place)


@dataclass(frozen=True, slots=True)
class _Block:
    """A code block being read, and the task above it; None if it is prose."""

    fence: str
    indent: int
    place: PlanPosition
    item: _Item | None


@dataclass(frozen=True, slots=True)
class _LeftLine:
    """A line at the left below a task, and where it would stand in the plan's description."""

    item: _Item
    words: str
    prose_at: int


@dataclass(slots=True)
class _Heading:
    """A heading, and whether sessions get it: with the text below it, or with its tasks."""

    level: int
    line: str
    is_told: bool = False
    has_tasks: bool = False

    @property
    def words(self) -> str:
        return self.line.strip("#*_: \t")


@dataclass(frozen=True, slots=True)
class _Bullets:
    """A field whose values may follow as bullets with a larger indent."""

    indent: int
    values: list[Node]


def parse_markdown(text: str) -> Node:
    reading = _Reading()
    for number, line in enumerate(text.split("\n"), 1):
        reading.line(line.rstrip("\r"), PlanPosition(number))
    reading.end()
    if not reading.tasks:
        raise no_tasks(text)
    tasks = Node([one.node() for one in reading.tasks], PlanPosition(1))
    said = {"title": reading.title, "description": "\n".join(reading.prose)}
    given = {name: Node(words, PlanPosition(1)) for name, words in said.items() if words}
    return Node({**given, "tasks": tasks}, PlanPosition(1))


class _Reading:
    def __init__(self) -> None:
        self.title = ""
        self.tasks: list[_Item] = []
        self.prose: list[str] = []
        self._wave: tuple[int, int] | None = None  # its number, and the level of its heading
        self._headings: list[_Heading] = []  # above the line, from the outermost on
        self._open: list[_Item] = []  # the task, then its subtask
        self._block: _Block | None = None
        self._bullets: _Bullets | None = None
        self._last: _Item | None = None  # the task that text at the left may belong to
        self._left: list[_LeftLine] = []  # that text, as long as no other task follows
        self._wrapped: _Item | None = None  # the sentence of its title may go on in the next line
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
        self._leave_headings(0)
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
            self._tell(words)
        elif self._is_blank or self._left or words.lstrip()[:3] in ("```", "~~~"):
            self._left.append(_LeftLine(self._last, words, len(self.prose)))
        elif not self._join(self._last, words.strip()):
            self._last.words.append(words.strip())

    def _join(self, item: _Item, words: str) -> bool:
        """Whether the words go on with the title of the task; they are then added to it."""
        is_long = len(str(item.fields["title"].value)) > LONGEST_TITLE
        if self._wrapped is not item or is_long or self._is_blank or _FIELD.fullmatch(words):
            return False
        sentence = _SENTENCE.fullmatch(words)
        title, rest = (sentence[1], sentence[2]) if sentence else (words, "")
        self._wrapped = None if title[-1:] in _ENDS else item
        item.fields["title"] = Node(strip_bold(f"{item.fields['title'].value} {title}"), item.place)
        item.words += [rest] if rest else []
        return True

    def _end_text(self) -> None:
        """Another task begins: what stood at the left before it belongs to the tasks above. No
        session gets the text of a task that is done, so that is for all others."""
        for left in self._left:
            if not left.item.fields["done"].value:
                _read_left(left.item, left.words)
        self._give_all([left for left in self._left if left.item.fields["done"].value])
        self._left.clear()

    def _give_all(self, lines: list[_LeftLine]) -> None:
        for left in reversed(lines):
            self.prose.insert(left.prose_at, left.words)

    def _tell(self, words: str) -> None:
        """Add a line to the plan's description, below the headings it stands under."""
        for heading in self._headings:
            self.prose += [] if heading.is_told else [heading.line]
            heading.is_told = True
        self.prose.append(words)

    def _outside(self, line: str, place: PlanPosition) -> None:
        if box := _BOX.fullmatch(line):
            self._task(box, place)
        elif heading := _HEADING.fullmatch(line):
            self._head(line, len(heading[1]), self._begin_wave(line))
        elif (bold := _BOLD_LINE.fullmatch(line)) and _is_heading(bold[1]):
            self._begin_wave(f"{'#' * BOLD_LEVEL} {bold[1]}")
            self._head(line, BOLD_LEVEL, is_part=True)
        elif bold and self._is_blank:
            self._open.clear()
            self._last = None
            self._tell(line.rstrip())
        elif line.strip():
            self._beneath(line, place)
        self._is_blank = not line.strip()

    def _head(self, line: str, level: int, is_part: bool) -> None:
        """Begin what stands below a heading; that of a part (`## Phase 1`) is not the title."""
        self._leave_headings(level)
        if self.title or is_part:
            self._headings.append(_Heading(level, line.rstrip()))
        else:
            self.title = line.lstrip("#").strip()
        self._open.clear()
        self._last = None

    def _leave_headings(self, level: int) -> None:
        """End the headings of this level and deeper. One with nothing below it is itself text."""
        left = [one for one in self._headings if one.level >= level]
        self._headings = [one for one in self._headings if one.level < level]
        self.prose += [one.line for one in left if not (one.is_told or one.has_tasks)]

    def _begin_wave(self, line: str) -> bool:
        """Whether the heading begins a wave. A wave ends with the next heading of its level."""
        heading = _WAVE.match(line)
        if heading is None:
            return False
        level, number = len(heading[1]), heading[2]
        if number:
            self._wave = int(number), level
        elif self._wave and level <= self._wave[1]:
            self._wave = None
        return bool(number)

    def _task(self, box: re.Match[str], place: PlanPosition) -> None:
        indent, done, title = _indent(box[1]), box[3] != " ", box["title"]
        above = self._above(indent)
        self._bullets = None
        if len(self._open) > 1 and above is not None:  # beneath a subtask
            above.words.append(f"- {title} (done)" if done else f"- {title}")
            return
        title = strip_bold(title)
        item = _Item(indent, place, {"title": Node(title, place), "done": Node(done, place)})
        if above is None:
            self._end_text()
            self._last = item
        if box["number"]:
            item.fields["number"] = Node(int(box["number"]), place)
        if above is None:
            item.fields |= self._group(place)
        is_wrapped = len(title) >= WRAPPED and title[-1] not in _ENDS
        self._wrapped = item if is_wrapped else None
        (above.below if above else self.tasks).append(item)
        self._open.append(item)

    def _group(self, place: PlanPosition) -> dict[str, Node]:
        """The wave of a task, and the headings that it stands under."""
        for heading in self._headings:
            heading.has_tasks = True
        section = BETWEEN_HEADINGS.join(one.words for one in self._headings)
        found = {"section": Node(section, place)} if section else {}
        return found | ({"wave": Node(self._wave[0], place)} if self._wave else {})

    def _beneath(self, line: str, place: PlanPosition) -> None:
        """Add a line to the innermost task it is indented under; it is prose if there is none."""
        indent = _indent(line[: len(line) - len(line.lstrip())])
        bullet = _BULLET.fullmatch(line)
        if self._bullets is not None and bullet and indent > self._bullets.indent:
            self._bullets.values.append(Node(strip_quotes(bullet.group(2)), place))
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
        if bullet and item.lists(indent) and (files := _paths(bullet.group(2), place)):
            _list_of(item, "files", place).extend(files)
            return
        values = _read_line(item, bullet.group(2) if bullet else line.strip(), place)
        self._bullets = _Bullets(indent, values) if values is not None else None

    def _above(self, indent: int) -> _Item | None:
        """The innermost task for this indent."""
        while self._open and self._open[-1].indent >= indent:
            self._open.pop()
        return self._open[-1] if self._open else None


def _is_heading(words: str) -> bool:
    """Whether a bold line names what stands below it. Others tell what to do."""
    if _WAVE_NAME.match(words):
        return True
    return _BOLD_HEADING.fullmatch(words) is not None and not _INSTRUCTION.search(words)


def _read_line(item: _Item, words: str, place: PlanPosition) -> list[Node] | None:
    """Read a line of a task: a field, whose values may continue as bullets, or description."""
    named = _FIELD.fullmatch(_BOLD.sub(r"\2:", words, count=1) if words[:1] in "*_" else words)
    name = _BLANK.sub(" ", named.group(1).strip().lower()) if named else ""
    given = named.group(2).strip() if named else ""
    if words.lower() in _TOGETHER or name == "keep together":
        _put(item, "keep_together", Node(given.lower() not in ("no", "false"), place))
        item.words += [words] if given.lower() not in _YES_OR_NO else []
    elif name == "group":
        values = _values(given, place)
        _list_of(item, "groups", place).append(Node(values, place))
        return None if given else values
    elif name in _LISTS:
        values = _list_of(item, _LISTS[name], place)
        # Titles may contain commas: `depends` is resolved once all titles are known.
        one = [Node(given, place)] if given else []
        values += one if _LISTS[name] == "depends" else _values(given, place)
        return None if given else values
    elif name in _NUMBERS and not _EFFORT.fullmatch(given):
        _put(item, _NUMBERS[name], Node(_number(given, name, place), place))
    elif name == "id":
        _put(item, "id", Node(strip_quotes(given), place))
    else:
        _check_misspelt(name, place)
        item.words.append(words)
    return None


def _read_left(item: _Item, words: str) -> None:
    """Read a line at the left: files or dependencies, or description. Other names of fields are
    words of the text."""
    name, _, _ = words.replace("**", "").partition(":")
    if name.strip().lower() in _AT_LEFT:
        _read_line(item, words.strip(), item.place)
    else:
        item.words.append(words)


def _check_misspelt(name: str, place: PlanPosition) -> None:
    """Refuse a misspelt field: otherwise it would be lost in the description."""
    turned = [one for one in _NAMES if name and sorted(one) == sorted(name)]
    near = turned or get_close_matches(name, _NAMES, 1, _ALIKE)
    meant = _MEANT.get(name) or (near[0] if near else "")
    if meant and meant != name:
        words = f"a task has no {name!r}; did you mean {meant!r}?"
        raise BadPlan(words, place, f"write `{meant}: …`, or put other words first")


def _put(item: _Item, name: str, node: Node) -> None:
    if name in item.fields:
        words = f"{name.replace('_', ' ')!r} stands twice beneath one task"
        raise BadPlan(words, node.place, "keep one of the two")
    item.fields[name] = node


def _list_of(item: _Item, name: str, place: PlanPosition) -> list[Node]:
    values = item.fields.setdefault(name, Node([], place)).value
    assert isinstance(values, list)
    return values


def _values(given: str, place: PlanPosition) -> list[Node]:
    return [Node(strip_quotes(part), place) for part in split_references(given)]


def _paths(words: str, place: PlanPosition) -> list[Node]:
    """The files of a bullet that is nothing but paths; none if it has other words."""
    found = _values(words, place)
    return found if all(_PATH.fullmatch(str(one.value)) for one in found) else []


def _number(given: str, name: str, place: PlanPosition) -> int:
    found = parse_tokens(given)
    if found is None:
        raise BadPlan(f"{name}: {given!r} is no number", place, f"write `{name}: 12k`")
    return found


def strip_bold(text: str) -> str:
    return _BOLD_WORDS.sub(r"\1", text)


def _indent(blanks: str) -> int:
    return sum(TAB if blank == "\t" else 1 for blank in blanks)
