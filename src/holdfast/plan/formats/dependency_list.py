"""Dependencies that a plan lists beside its tasks: `D <- B, C`, `D needs B`, `B -> D`, a table.

They mostly stand in a section at the end, or as a diagram in a code block. A line counts only if
everything on both sides of its arrow or verb names tasks. All other lines are prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from holdfast.plan.formats.order_words import strip_state
from holdfast.plan.formats.references import References, is_nothing
from holdfast.plan.task import PlanTask

MOST_LINES = 5_000
LONGEST = 400  # characters of a line
_LABEL = re.compile(
    r"[\s>*+-]*(?:\*\*|__)?(?:dependenc(?:y|ies)|order)(?:\*\*|__)?:(?:\*\*|__)?\s*", re.I
)
_HEAD = re.compile(r"[\s#>*_]*(?:dependenc(?:y|ies)|depends on|order)\b.{0,40}", re.I)
_LEAD = re.compile(r"[\s>]*(?:[-*+]\s+)?(?:\d{1,3}[.)]\s+(?=\S+\s*(?:<|->|\u2190|\u2192)))?")
_BACK = re.compile(
    r"\s*(?:<-+|<=+|\u2190|\u21d0|\b(?:depends?\s(?:up)?on|needs?|requires?|waits?\sfor|follows?"
    r"|(?:is\s|are\s)?blocked\sby|(?:(?:can|must|should|may|has\sto|have\sto)\s)?(?:only\s)?"
    r"(?:(?:be\sdone|starts?|begins?|runs?|comes?|goe?s?)\s)?(?:only\s)?(?:after|once|when))\b)\s*",
    re.IGNORECASE,
)
_FORTH = re.compile(
    r"\s*(?:-+>(?:\|[^|]*\|)?|=+>|\u2192|\u21d2|\b(?:comes?\s)?before\b|\b(?:un)?blocks\b"
    r"|\bis\s(?:needed|required)\s(?:by|for)\b)\s*",
    re.IGNORECASE,
)
_NODE = re.compile(r"(\w[\w.-]*)\s*(?:\[[^\]]*\]|\([^)]*\)|\{[^}]*\})")  # of a diagram: `A[Cut it]`
_ROW = re.compile(r"\s*\|(.*)\|\s*")
_NO_COLUMNS = (-1, -1)
_WAITS = re.compile(
    r"\W*(?:depends?(?:\s(?:up)?on)?|dependenc(?:y|ies)|deps|needs|requires|after|waits\sfor"
    r"|blocked\sby|prerequisites?)\W*",
    re.IGNORECASE,
)
_TASK = re.compile(r"\W*(?:tasks?|steps?|items?|ids?|no|nr|number|#|what)?\W*", re.IGNORECASE)


def read_dependency_list(text: str, last: PlanTask, known: References) -> dict[str, list[str]]:
    """For each task that such a list names, the tasks that it waits for. `last`: the task of the
    plan in whose list numbers are looked up."""
    found: dict[str, list[str]] = {}
    for sources, followers in _pairs(text, last, known):
        for name in followers:
            found.setdefault(name, []).extend(one for one in sources if one != name)
    return found


def _pairs(
    text: str, last: PlanTask, known: References
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    columns = _NO_COLUMNS
    is_headed = False
    for line in text.split("\n")[:MOST_LINES]:
        row = _ROW.fullmatch(line[:LONGEST])
        columns = _columns(row[1], columns) if row else _NO_COLUMNS
        if row:
            yield from _read_row(row[1], columns, last, known)
            continue
        is_headed = bool(_HEAD.fullmatch(line)) or (is_headed and not line.startswith("#"))
        label = _LABEL.match(line)
        rest = line[label.end() :] if label else line
        for part in re.split(r";|\.\s", rest.rstrip(" .")):
            yield from _read_line(part, last, known, is_headed or bool(label))


def _columns(row: str, known: tuple[int, int]) -> tuple[int, int]:
    """The places of the columns of tasks and of what they wait for; those known already below the
    head of the table."""
    if known != _NO_COLUMNS:
        return known
    cells = row.split("|")
    waits = [at for at, cell in enumerate(cells) if _WAITS.fullmatch(cell)]
    tasks = [at for at, cell in enumerate(cells) if _TASK.fullmatch(cell) and at not in waits]
    return (tasks[0], waits[0]) if waits and tasks else _NO_COLUMNS


def _read_row(
    row: str, columns: tuple[int, int], last: PlanTask, known: References
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    cells = row.split("|")
    if columns == _NO_COLUMNS or len(cells) <= max(columns):
        return
    followers, sources = (_tasks_in(cells[at], last, known) for at in columns)
    if followers and sources:
        yield sources, followers


def _read_line(
    line: str, last: PlanTask, known: References, is_listed: bool
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The pairs of a line. `is_listed`: something says that it is about dependencies, so that
    `D: B, C` is one as well."""
    words = _NODE.sub(r"\1", _LEAD.sub("", line[:LONGEST], count=1))
    for split, is_back in ((_BACK, True), (_FORTH, False)):
        sides = [_tasks_in(side, last, known) for side in split.split(words)]
        if len(sides) > 1 and all(sides):
            yield from pairwise(sides[::-1] if is_back else sides)
            return
    name, colon, rest = words.partition(":")
    if is_listed and colon:
        followers, sources = _tasks_in(name, last, known), _tasks_in(rest, last, known)
        if followers and sources:
            yield sources, followers


def _tasks_in(words: str, last: PlanTask, known: References) -> list[str]:
    """The tasks that the words name; none if a part of them names none."""
    if is_nothing(words):
        return []
    parts = [names for _, names in known.find(strip_state(words.strip(" \t*_`.")), last)]
    return [name for names in parts for name in names] if all(parts) else []
