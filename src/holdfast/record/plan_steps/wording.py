"""Steps as a text states them: a whole plan, a list that a line announces, a sequence in prose."""

import re

import msgspec
from msgspec.structs import replace

from holdfast.record import plan_checks
from holdfast.text import progress
from holdfast.text.sentences import Lazy, within

FILE = "file"
LEFT, LATER = "left", "later"  # the model lists it as remaining; the user wants it later
PUT_OFF = (LEFT, LATER)
SOURCES = ("plan", FILE, "prose", *PUT_OFF)
# A line that announces a list of steps ends with one of these. Any other list is no plan.
_LEADS = (
    *("plan", "steps", "remaining", "to do", "to-do", "todo", "open", "left", "next", "phases"),
    *("tasks", "schritte", "offen", "nächstes", "pasos", "pendiente", "pendientes", "étapes"),
    *("reste", "計画", "手順", "残り", "计划", "步骤", "接下来", "剩下"),
)
# Or such a noun is followed by what it is for: "Plan for the harbour:", "My plan, in two parts:".
_LEADS_ON = Lazy(
    r"\b(?:plan|steps|tasks|phases|schritte|pasos|étapes)"
    r"(?:,| \(| (?:for|für|zum|zur|para|pour)\b| to\b(?! reproduce))[^.?!]*$"
)
# "First one thing, then another, and finally a third."
_FIRST = ("first", "zuerst", "primero", "d'abord")
_SEQUENCE = Lazy(
    r"\b(?:first|zuerst|primero|d'abord)\b,? ([^.;:\n]{8,200}?)[,;.] (?:and |und |y |et )?"
    r"(?:then|next|dann|danach|luego|después|ensuite|puis)\b,? ([^.;:\n]{8,200}?)[,;.] "
    r"(?:and |und |y |et )?(?:finally|lastly|then|zuletzt|schließlich|finalmente|enfin)\b,? "
    r"([^.;:\n]{8,200})",
    re.IGNORECASE,
)
_ENUMERATED = Lazy(r"(?:^|(?<=\s))(\d{1,2})[.)] +(?=\S)")
_MARKS = frozenset("-*•#[")
_ITEM = Lazy(
    r"[ \t]*(?:(?:[-*] )?\[( |x|X|~)\] |(\d{1,2})[.)] |[-*•] "
    r"|#{2,4} (?=(?:[^\W\d]+ )?#?\d{1,2}[a-z]?(?:[.:)]| [^\w\s]))"
    r")(.+)"
)


class PlanStep(msgspec.Struct, frozen=True, gc=False):
    """A step as the text states it, with the lines under it."""

    box: str
    words: str
    about: str = ""
    is_check: bool = False


def find_announced(text: str) -> list[PlanStep]:
    """Return the items of the last list that a line or a heading with a lead word announces."""
    found: list[PlanStep] = []
    lead, inside = "", False
    for line in text.splitlines():
        item = _item(line)
        if item and (item[1] or item[2]) and _leads(lead):
            found = [*(found if inside else ()), PlanStep(item[1] or "", item[3])]
            inside = True
        elif line.strip() and not line.startswith(("  ", "\t")):
            lead, inside = line, False
            if len(steps := _in_one_line(line)) > 1:
                found = steps
    is_sequence = not found and within(_FIRST, text.lower())
    if is_sequence and (told := _SEQUENCE.pattern.search(text)):
        found = [PlanStep("", step) for step in told.groups()]
    return found if len(found) > 1 else []


def _item(line: str) -> re.Match[str] | None:
    """Match an item of a list. The first character rules out most lines."""
    first = line.lstrip(" \t")[:1]
    return _ITEM.pattern.match(line) if first in _MARKS or first.isdecimal() else None


def _leads(line: str) -> bool:
    """Whether a line announces steps with its last word or noun: "Here is the plan:", "## Steps for
    the harbour". What is left for the user to do is not a plan of the model."""
    if progress.TO_USER.pattern.search(line):
        return False
    bare = line.lower().replace("*", "").strip(" \t#_:：.-")  # noqa: RUF001
    return bare.endswith(_LEADS) or _LEADS_ON.pattern.search(bare) is not None


def _in_one_line(line: str) -> list[PlanStep]:
    """Return the steps of a plan in one line: `Plan: 1. read it 2. write it`."""
    if ". " not in line and ") " not in line:
        return []
    marks = list(_ENUMERATED.pattern.finditer(line))
    if not marks or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return []
    if not _leads(line[: marks[0].start()]):
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(line)]
    return [PlanStep("", line[a.end() : b].strip()) for a, b in zip(marks, ends, strict=True)]


def find_steps(text: str, *, numbers: bool = True) -> list[PlanStep]:
    """Return the steps of a whole plan: numbered headings, else boxes to tick (under numbered
    headings they are parts of steps), else its only numbered list; then the items of its
    verification."""
    boxes: list[PlanStep] = []
    headed: list[PlanStep] = []
    numbered: list[PlanStep] = []
    checks: list[PlanStep] = []
    in_checks = in_code = False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            in_checks = plan_checks.is_section(line)
        item = None if in_code else _item(line)
        if item and in_checks and not line[0].isspace() and plan_checks.is_check(item[3]):
            checks.append(PlanStep(item[1] or "", item[3], item[3], True))
        elif item and item[1]:
            boxes.append(PlanStep(item[1], item[3], item[3]))
        elif item and line.startswith("#"):
            headed.append(PlanStep("", item[3], item[3]))
        elif item and item[2] and line[:1].isdigit() and numbers:
            numbered.append(PlanStep("", item[3], item[3]))
        elif headed and not in_checks:
            headed[-1] = replace(headed[-1], about=f"{headed[-1].about}\n{line}")
    lists = sum(line.startswith(("1. ", "1) ")) for line in text.splitlines()) - bool(checks)
    known = headed if len(headed) > 1 else boxes or (numbered if lists < 2 else [])
    return [*known, *checks]
