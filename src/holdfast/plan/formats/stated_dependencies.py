"""Dependencies that a task states in words: `Depends on T1.`, `(needs tasks 1 and 2)`, `After 7.`

They stand in brackets, after a dash or a comma, or as a sentence of their own, in the title or in
the text below it. Each part of what they name is looked up; other words in between are prose. A
statement that names no task at all is reported, since a dropped dependency changes the order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.plan.formats.references import References, is_nothing
from holdfast.plan.task import PlanTask

MOST_STATED = 50  # statements of one task that are looked at
MOST_CHARS = 20_000
_STATED = re.compile(
    r"(?P<before>^[ \t]*(?:[-*+][ \t]+)?|[.!?;:]\W{0,4}\s|[(\[]\s*|,\s+(?!(?:and|or)\b)"
    r"|\s[-\u2013\u2014]+\s|[(\[][^()\[\]]{1,80},\s|\s(?=after\s[a-z]{1,4}-?\d))"
    r"(?P<all>(?:this\s|it\s)?(?:can\s|must\s|should\s|has\sto\s)?(?:be\sdone\s|start\s|begin\s)?"
    r"(?:only\s)?(?P<verb>after|once|depend(?:s|ing|ent)?\s(?:up)?on|needs?|requires?|blocked\sby"
    r"|waits?\sfor|inputs?:|(?:the\s)?last\s(?:step|task)\b"
    r"|do\s(?:this|it)\slast\b)[\s:]*"
    r"(?P<what>[^()\[\]\n]{0,200}?))"
    r"(?=[)\]]|[.;!?][*_`\"')\]]*(?:\s|$)|$)",
    re.IGNORECASE | re.MULTILINE,
)
_STATE = re.compile(
    r"\s+(?:(?:is|are|has|have|was|were)\s)?(?:been\s)?(?:lands?|landed|done|merged|merges|in"
    r"|finished|complete[ds]?|ready|shipped|ships|only|alone|first)$",
    re.IGNORECASE,
)
_EDGE = re.compile(r"^(?:(?:and|or|both|either)\b\s*)+|\s*(?:\b(?:and|or))+$", re.IGNORECASE)
_REFERENCE = re.compile(r"#?\d{1,5}|[A-Z]{1,4}-?\d{1,4}")
_COUNT = re.compile(r"(?:about\s|at least\s)?\d[\d.,]*\s+\w+")  # `2 days`
_SURE = ("depend", "blocked", "wait")
MOST_WORDS = 6  # of a statement that is reported: a longer one is prose
_WRAPPED = re.compile(r"(,|\b(?:and|or))\n|\n(?=(?:and|or)\b)", re.IGNORECASE)
_FENCED = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)


def read_stated(task: PlanTask, known: References) -> tuple[list[str], str]:
    """The tasks that a task says it waits for, and the first statement that names none."""
    found: list[str] = []
    unread = ""
    for match in _statements(task):
        names, missed = _resolve(match, task, known)
        if "last" in match["verb"].lower():
            names, missed = ([] if match["what"] else known.above(task)), ""
        found += names
        if missed is None or (not names and _is_prose(match)):
            continue
        if missed or not names:
            unread = unread or match["all"].strip(" *_`")
    return found, unread


def _statements(task: PlanTask) -> Iterator[re.Match[str]]:
    """The statements of a title, which does not begin with one, and of the text below it."""
    below = _FENCED.sub("", task.description[:MOST_CHARS])
    texts = ((task.title, 1), (_WRAPPED.sub(r"\1 ", below), 0))
    for text, start in texts:
        for at, match in enumerate(_STATED.finditer(text, start)):
            if at < MOST_STATED and (match.start() or not start):
                yield match


def _resolve(
    match: re.Match[str], task: PlanTask, known: References
) -> tuple[list[str], str | None]:
    """The tasks that a statement names, and a part that looks like one and is none. None if it
    names its own task: `3. Add servers (needs 3)` counts something else."""
    what = match["what"].strip(" *_`")
    found: list[str] = []
    missed = ""
    for part, names in known.find(_STATE.sub("", what), task):
        words = _STATE.sub("", _EDGE.sub("", part)).strip(" *_`")
        names = names or [name for _, some in known.find(words, task) for name in some]
        if task.id in names:
            return [], None
        if not names and _REFERENCE.fullmatch(words):
            missed = words
        found += names
    if not found and not missed:
        found += filter(None, (known.find_by_words(words, task) for words in _wordings(match)))
    return found, missed


def _wordings(match: re.Match[str]) -> list[str]:
    """The words that may name a task: all of a statement, and its parts if it is surely one."""
    is_sure = match["verb"].lower().startswith(_SURE)
    if match["before"].strip() == "," and not is_sure:
        return []
    return [match["what"], *(re.split(r",|\b(?:and|or)\b", match["what"]) if is_sure else ())]


def _is_prose(match: re.Match[str]) -> bool:
    """Whether words that name no task are about something else: `(needs 2 days)`, or a sentence
    that goes on."""
    what = match["what"].strip()
    if is_nothing(what):
        return True
    if match["verb"].lower().startswith(_SURE):
        return len(what.split()) > 2 * MOST_WORDS
    is_short = 0 < len(what.split()) <= MOST_WORDS and "," not in what
    return not is_short or match["before"].strip() == "," or _COUNT.fullmatch(what) is not None
