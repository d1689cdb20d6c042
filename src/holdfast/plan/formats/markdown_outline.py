"""The headings of a Markdown plan, and what they give: the title of the plan, the section and the
wave of a task, and the text that is for all tasks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.plan.formats.fields import Node
from holdfast.plan.formats.task_structure import GROUP_WORDS
from holdfast.plan.task import PlanPosition

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
NAME_MARKS = "###### "  # before a line that only names a list: its author wrote none
BOLD_LEVEL = 7  # below all other headings
BETWEEN_HEADINGS = " \u203a "


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


class PlanOutline:
    """The headings above the current line. `prose` is the description of the plan."""

    def __init__(self, has_title: bool = True) -> None:
        """`has_title`: the first heading that is no part is the title of the plan."""
        self._has_title = has_title
        self.title = ""
        self.prose: list[str] = []
        self._wave: tuple[int, int] | None = None  # its number, and the level of its heading
        self._headings: list[_Heading] = []  # above the line, from the outermost on

    def begin(self, line: str) -> bool:
        """Begin what stands below a heading; False if the line is none."""
        if heading := _HEADING.fullmatch(line):
            self._head(line, len(heading[1]), self._begin_wave(line))
            return True
        bold = _BOLD_LINE.fullmatch(line)
        if bold is None or not _is_heading(bold[1]):
            return False
        self._begin_wave(f"{'#' * BOLD_LEVEL} {bold[1]}")
        self._head(line, BOLD_LEVEL, is_part=True)
        return True

    def tell(self, words: str) -> None:
        """Add a line to the plan's description, below the headings it stands under."""
        for heading in self._headings:
            self.prose += [] if heading.is_told else [heading.line.removeprefix(NAME_MARKS)]
            heading.is_told = True
        self.prose.append(words)

    def _head(self, line: str, level: int, is_part: bool) -> None:
        """Begin what stands below a heading; that of a part (`## Phase 1`) is not the title."""
        self.leave(level)
        if self.title or is_part or not self._has_title:
            self._headings.append(_Heading(level, line.rstrip()))
        else:
            self.title = line.lstrip("#").strip()

    def leave(self, level: int) -> None:
        """End the headings of this level and deeper. One with nothing below it is itself text."""
        left = [one for one in self._headings if one.level >= level]
        self._headings = [one for one in self._headings if one.level < level]
        self.prose += [
            one.line.removeprefix(NAME_MARKS) for one in left if not (one.is_told or one.has_tasks)
        ]

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

    def place_task(self, place: PlanPosition) -> dict[str, Node]:
        """The wave of a task, and the headings that it stands under."""
        for heading in self._headings:
            heading.has_tasks = True
        section = BETWEEN_HEADINGS.join(one.words for one in self._headings)
        found = {"section": Node(section, place)} if section else {}
        return found | ({"wave": Node(self._wave[0], place)} if self._wave else {})


def level_of(line: str) -> int:
    """The level of a heading; 0 if the line is none."""
    heading = _HEADING.fullmatch(line)
    return len(heading[1]) if heading else 0


def is_instruction(line: str) -> bool:
    """Whether a line is bold as a whole; one that is no heading tells all tasks something."""
    return _BOLD_LINE.fullmatch(line) is not None


def _is_heading(words: str) -> bool:
    """Whether a bold line names what stands below it. Others tell what to do."""
    if _WAVE_NAME.match(words):
        return True
    return _BOLD_HEADING.fullmatch(words) is not None and not _INSTRUCTION.search(words)
