"""Dependencies that a task states in words: `Depends on T1.`, `(needs tasks 1 and 2)`, `After 7.`

They stand in brackets, after a dash or a comma, or as a sentence of their own, in the title or in
the text below it. Each part of what they name is looked up: a number, an id, a whole title, a
heading. Other words are not matched with titles, because a wrong guess changes the order: a task
whose statement names no other (`needs the benchmark`) waits for all tasks above it. A task that
takes something from another (`the numbers from step 2`) waits for it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.plan.formats.order_words import find_clauses, find_mentions, strip_state
from holdfast.plan.formats.references import References, is_nothing
from holdfast.plan.task import PlanTask

MOST_STATED = 50  # statements of one task that are looked at
MOST_CHARS = 20_000
_STATED = re.compile(
    r"(?P<before>^[ \t]*(?:[-*+][ \t]+)?|[.!?;:]\W{0,4}\s|[(\[]\s*|,\s+(?!(?:and|or)\b)"
    r"|\s[-\u2013\u2014]+\s|[(\[][^()\[\]]{1,80},\s|\s(?=after\s[a-z]{1,4}-?\d))"
    r"(?P<all>(?:this\s|it\s|they\s|both\s)?(?:also\s|still\s)?(?:can\s|must\s|should\s|has\sto\s)?(?:be\sdone\s|start\s|begin\s)?"
    r"(?:only\s)?(?P<verb>after|once|follows|(?:can\W?t|cannot|don\W?t|not)\s(?:start|begin)?\s?until|depend(?:s|ing|ent)?\s(?:up)?on|needs?|requires?|blocked\sby"
    r"|waits?\sfor|inputs?:|(?:the\s)?(?:last|final)\s(?:step|task)\b"
    r"|do\s(?:this|it)\slast\b)(?:\b|(?<=:))[\s:]*"
    r"(?P<what>[^()\[\]\n]{0,200}?))"
    r"(?=[)\]]|\s\(|,\s(?:otherwise|because|since|or\selse)\b|[.;!?][*_`\"')\]]*(?:\s|$)|$)",
    re.IGNORECASE | re.MULTILINE,
)
_EDGE = re.compile(r"^(?:(?:and|or|both|either)\b\s*)+|\s*(?:\b(?:and|or))+$", re.IGNORECASE)
_REFERENCE = re.compile(r"#?\d{1,5}|[A-Z]{1,4}-?\d{1,4}")
_COUNT = re.compile(r"(?:about\s|at least\s)?\d[\d.,]*\s+\w+")  # `2 days`
_ONLY = re.compile(r"(?:[\w ]{0,30}\s)?only\s", re.IGNORECASE)
_SURE = ("depend", "blocked", "wait")
MOST_WORDS = 6  # of a statement that is reported: a longer one is prose
_WRAPPED = re.compile(r"(,|\b(?:and|or))\n|\n(?=(?:and|or)\b)", re.IGNORECASE)
_FENCED = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)


# Words with which a task may speak of others that come first, or of a file that it does not list:
# who moves code changes the file it came from. One too many costs some time, one too few lets two
# sessions work on what belongs in a row.
_ORDER = re.compile(
    r"\b(?:after|once|until|before|first|last|follows?|waits?|blocked|needs?|requires?|depends?"
    r"|when|then|finally|same|rest|remaining|results?|based on|so far|by now|any ?more|any longer"
    r"|mov(?:e|es|ed|ing)|extract(?:s|ed|ing)?|split(?:s|ting)?|renam(?:e|es|ed|ing))\b",
    re.IGNORECASE,
)
# `Same for the parser`, `Dates: ditto`: at the start of a title or text, or after its label.
_SAME = re.compile(
    r"(?:[^\n]{1,60}?(?:[:\u2013\u2014]|\s-)\s+|\**\w{1,3}[.)]\**\s+)?(?:(?:do|repeat|apply)\s+)?(?:the\s+)?"
    r"(?:same|ditto|likewise|similarly)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"(?:nothing|none|no(?:body| one)?)\b", re.IGNORECASE)
# `Same as task 1 for the boom`, `Repeat 6 for the mast`, `same approach as in 7`
_LIKE = re.compile(
    r"\b(?:same(?:\s+\w+){0,2}\s+as|repeat|like)\s+(?:in\s+|for\s+|with\s+)?"
    r"(?P<what>(?:task|step|item|point)?\s*#?\d{1,4}|[A-Z]{1,4}-?\d{1,4})\b(?![.:]\d)",
    re.IGNORECASE,
)
_INDEPENDENT = re.compile(r"\b(?:independent|in parallel|side by side)\b", re.IGNORECASE)
_IS_LAST = re.compile(r"last|final", re.IGNORECASE)
_ALL_ABOVE = re.compile(  # `Everything above must be done.`
    r"\b(?:everything|all(?:\sof)?(?:\sthe)?(?:\stasks|\ssteps)?)\sabove\b(?!,?\s(?:except|but))",
    re.IGNORECASE,
)
_FIRST = re.compile(  # it comes before all others
    r"\bbefore\s+(?:doing\s|touching\s|changing\s|moving\s)?(?:any|anything|everything|all)\b[^.;)\n]*"
    r"|\b(?:do|must be done|has to be done|must come|has to come)\s(?:this\s|it\s)?first\b",
    re.IGNORECASE,
)
_BASE = re.compile(  # all others build on it
    r"\b(?:everything else|all (?:the )?(?:other|later)|the rest|every other)\b[^.;]{0,40}"
    r"\b(?:builds?|uses?|depends?|needs?|rel(?:y|ies)|waits?)\b[^.;]{0,12}\b(?:this|it|them|these)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StatedOrder:
    """What the words of a task say about its place. `followers`: tasks that wait for it;
    `others`: pairs of a task and one that it waits for (`5 and 6 need 4`); `unread`: the first
    statement that names no task; `is_base`: all later ones wait for it; `is_ordered`: it speaks of
    an order in other words as well."""

    depends: tuple[str, ...] = ()
    followers: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    unread: str = ""
    is_base: bool = False
    is_ordered: bool = False


def read_stated(task: PlanTask, known: References) -> StatedOrder:
    found: list[str] = []
    unread = ""
    rest = _text_of(task)
    for match in _statements(task):
        names, missed = _resolve(match, task, known)
        if not names:
            near = find_mentions(match["all"], task, known)
            names = [name for one in near if one.is_source for name in one.names]
        if _IS_LAST.search(match["verb"]):
            names, missed = ([] if match["what"] else known.all_above(task)), ""
        found += names
        if names and not missed:
            rest = rest.replace(match["all"], " ", 1)
        if missed is None or (not names and _is_prose(match)):
            continue
        if missed or not names:
            unread = unread or match["all"].strip(" *_`")
    if _ALL_ABOVE.search(rest):
        found += known.all_above(task)
    mentioned = list(find_mentions(rest, task, known))
    found += [name for one in mentioned if one.is_source for name in one.names]
    for clause in find_clauses(rest, task, known, mentioned):
        found += clause.names
        unread = unread or clause.unread
    return StatedOrder(
        depends=tuple(found),
        followers=tuple(name for one in mentioned if one.is_follower for name in one.names),
        others=tuple(pair for one in mentioned for pair in one.pairs()),
        unread=unread,
        is_base=bool(_FIRST.search(rest) or _BASE.search(rest)),
        is_ordered=bool(mentioned) or _ORDER.search(rest) is not None,
    )


def find_alike(task: PlanTask, before: PlanTask | None, known: References) -> str:
    """The earlier task that this one does again for something else: the one that it names, or the
    one before it (`Same for the parser`); empty if it says nothing of the kind."""
    named = _LIKE.search(_text_of(task))
    if named and (found := [name for _, some in known.find(named["what"], task) for name in some]):
        return "" if found[0] == task.id or known.is_later(found[0], task) else found[0]
    is_same = any(map(_SAME.match, (task.title, task.description)))
    return before.id if before and is_same else ""


def is_independent(task: PlanTask) -> bool:
    """Whether a task says that it does not wait for the one it is like."""
    return _INDEPENDENT.search(_text_of(task)) is not None


def _text_of(task: PlanTask) -> str:
    return f"{task.title}\n{_text_below(task)}"


def _text_below(task: PlanTask) -> str:
    """The description without its code, and with wrapped lists in one line."""
    return _WRAPPED.sub(r"\1 ", _FENCED.sub("", task.description[:MOST_CHARS]))


def _statements(task: PlanTask) -> Iterator[re.Match[str]]:
    """The statements of a title, which does not begin with one, and of the text below it."""
    for text, start in ((task.title, 1), (_text_below(task), 0)):
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
    for part, names in known.find(strip_state(what), task):
        words = strip_state(_EDGE.sub("", part)).strip(" *_`")
        names = names or [name for _, some in known.find(words, task) for name in some]
        if task.id in names:
            return [], None
        if not names and _REFERENCE.fullmatch(words):
            missed = words
        found += names
    if not found and not missed and match["before"].strip() != ",":
        found += known.find_section(strip_state(what), task)
    return found, missed


def _is_prose(match: re.Match[str]) -> bool:
    """Whether words that name no task are about something else: `(needs 2 days)`, or a sentence
    that goes on."""
    what = match["what"].strip()
    if is_nothing(what) or _NOTHING.match(what):
        return True
    if match["verb"].lower().startswith(_SURE) or _ONLY.match(match["all"]):
        return len(what.split()) > 2 * MOST_WORDS
    is_short = 0 < len(what.split()) <= MOST_WORDS and "," not in what
    return not is_short or match["before"].strip() == "," or _COUNT.fullmatch(what) is not None
