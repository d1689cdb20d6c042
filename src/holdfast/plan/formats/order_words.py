"""Words of order near a reference to other tasks, wherever they stand in a sentence.

`Delete it once B and C are merged`, `must happen before 7`, `when 3 and 4 are in`, `blocks T2`,
`the notes from 1-4`, `7 builds on this`, `5 and 6 need 4`. A number alone is a reference only if no
noun follows it: `after 5 minutes` names no task. A clause without such a reference (`once the
parameters are out`) may name a whole title or all work above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from holdfast.plan.formats.references import References
from holdfast.plan.task import PlanTask

MOST_MENTIONS = 50  # of one text
NEAR = 60  # characters before a reference in which a word of order counts
_NOUN = r"(?:tasks?|steps?|items?|points?|tickets?|numbers?|phases?|waves?|stages?|milestones?)"
_ONE = r"(?:#\d{1,5}|\d{1,3}[a-z]?|[A-Z]{1,8}-?\d{1,4}|[A-Z])(?![\w%/(=]|[.:]\d|,\d{3}|-[A-Za-z])"
_SEVERAL = re.compile(
    rf"(?<![\w.,:#/$=<>`'\"+-])(?P<noun>{_NOUN}\s+)?(?P<names>{_ONE}"
    rf"(?:\s*(?:,\s*(?:and\s|or\s)?|and\s|or\s|&|\+|/|-|\u2013|to\s|through\s|\.\.\.?)\s*"
    rf"(?:{_NOUN}\s+)?{_ONE})*)",
)
_WEAK = re.compile(r"(?:[A-Z](?!-\d)|\d{1,3}[a-z]?)(?!\w)")  # may also be a count, or an article
_GOES_ON = re.compile(  # what may follow a number that stands for a task
    r"\s*(?:$|\(|[.,;:!?)\]\u2013\u2014*_`\"'-]|\n|\s(?:is|are|was|were|has|have|be|lands?|landed|merges?"
    r"|merged|done|in|exists?|finish\w*|complete[ds]?|ready|ships?|shipped|works?|pass(?:es)?|goes|go"
    r"|comes?|only|alone|first|both|too|we|I|you|it|this|they|so|because|since|as|but|then|if|to"
    r"|must|should|can|cannot|may|will|needs?|depends?|builds?|waits?|rel(?:y|ies)|requires?|starts?"
    r"|begins?|follows?|agree|succeeds?|above|below|and|or|please|fully|together)\b)",
)
_FILLER = r"\s*:?\s*(?:(?:both|all|of|the|either|only|on|upon|result|results)\s+)*$"
_IT_WAITS = re.compile(
    r"\b(?:after|once|when|until|till|needs?|requires?|depend(?:s|ing|ent)?\s(?:up)?on"
    r"|blocked\s(?:by|on)|wait(?:s|ing)?\s(?:for|on)|follow(?:s|ing)?|build(?:s|ing)?\s(?:up)?on"
    r"|based\s(?:up)?on|as\ssoon\sas|assum(?:es|ing)|given|provided(?:\sthat)?|on\stop\sof"
    r"|prerequisites?|prereqs?|rel(?:y|ies|ying)\son|inputs?|uses?|using|unless"
    r"|(?:results?|notes?|findings?|numbers?|outputs?|outcomes?|answers?|data)\s(?:of|from|in))"
    + _FILLER,
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?$", re.IGNORECASE)
_THEY_WAIT = re.compile(
    r"\b(?:before|earlier\sthan|(?:un)?block(?:s|ing)?|enabl(?:es?|ing)|preced(?:es?|ing)|prior\sto|ahead\sof"
    r"|(?:prerequisites?|required|needed|necessary)\s(?:by|for|of)|in\stime\sfor)" + _FILLER,
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|independent|without|nothing)|n['\u2019]t)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
_ALSO_DENIED = re.compile(r"until|till|once|when", re.IGNORECASE)  # `not until 3 is in`: it waits
_RELATIVE = re.compile(r"\b(?:that|which|who|whatever)\s+(?:\w+\s+)?$", re.IGNORECASE)
_STATES = (
    r"(?:\s+(?:must|has|have|should|needs?|to|be|been|is|are|come|comes|goes?|done|merged|in))"
)
_IS_FIRST = re.compile(
    rf"{_STATES}+\s+(?:first|beforehand|before\s+(?:this|it)|required|needed)\b", re.IGNORECASE
)
_IS_LATER = re.compile(
    r"\s+(?:(?:can|must|should|will)(?:not|n['\u2019]t)?\s+)?(?:(?:only\s+)?(?:start|begin|come)s?\s+)?"
    r"(?:depends?\s(?:up)?on|builds?\s(?:up)?on|waits?\s(?:for|on)|rel(?:y|ies)\son|needs?|requires?"
    r"|comes?\safter|follows?|(?:is|are)\sblocked\sby|after|until)\s+(?:this|it|that)\b",
    re.IGNORECASE,
)


_THEY_NEED = re.compile(  # between two references: `5 and 6 both need 4`
    r"\s+(?:(?:both|all|each)\s+)?(?:needs?|requires?|depends?\s(?:up)?on|waits?\s(?:for|on)"
    r"|builds?\s(?:up)?on|rel(?:y|ies)\son|comes?\safter|follows?)\s+(?:only\s+|both\s+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Other tasks that a text names, and where. `is_source`: they come first; `is_follower`: they
    wait; `subjects`: the tasks that wait for them, if the sentence names these."""

    at: int
    names: tuple[str, ...]
    is_source: bool
    is_follower: bool
    subjects: tuple[str, ...] = ()

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each task that waits, with each task that it waits for."""
        return ((one, name) for one in self.subjects for name in self.names if one != name)


def find_mentions(text: str, task: PlanTask, known: References) -> Iterator[Mention]:
    """The references in a text, with what the words near them say about the order."""
    before: re.Match[str] | None = None
    for match in islice(_SEVERAL.finditer(text), MOST_MENTIONS):
        is_sure = bool(match["noun"]) or not _WEAK.match(match["names"])
        is_source, is_follower = _directions(text, match, is_sure)
        subject, before = before, match
        if not is_sure and not (is_source or is_follower):
            continue
        found = tuple(dict.fromkeys(_names(match, task, known)))
        if subject and found and _THEY_NEED.fullmatch(text, subject.end(), match.start()):
            yield Mention(match.start(), found, False, False, tuple(_names(subject, task, known)))
        elif found and task.id not in found:
            yield Mention(match.start(), found, is_source, is_follower)


def _names(match: re.Match[str], task: PlanTask, known: References) -> Iterator[str]:
    return (name for _, names in known.find(match[0], task) for name in names)


def _directions(text: str, match: re.Match[str], is_sure: bool) -> tuple[bool, bool]:
    """Whether the tasks that a reference names come before this one, or after it."""
    if not is_sure and not _GOES_ON.match(text, match.end()):
        return False, False
    before = text[max(0, match.start() - NEAR) : match.start()]
    waits, blocks = _IT_WAITS.search(before), _THEY_WAIT.search(before)
    if word := waits or blocks:
        return _by_word(before[: word.start()], word[0], waits is None)
    is_first = _IS_FIRST.match(text, match.end()) or (is_sure and _FROM.search(before))
    return bool(is_first), bool(_IS_LATER.match(text, match.end()))


def _by_word(before: str, word: str, is_later: bool) -> tuple[bool, bool]:
    """What a word of order says, given the text before it. `Not before 3` waits for 3, `does not
    need 3` says nothing, and neither does `the part that needs 3`."""
    if _RELATIVE.search(before):
        return False, False
    if _DENIED.search(before) and not _ALSO_DENIED.match(word):
        return is_later, False
    return not is_later, is_later


# A clause that says when a task may begin. `once` alone also means one time.
_CLAUSE = re.compile(
    r"(?P<word>(?<!before\sand\s)\b(?:once|as\ssoon\sas|after|when|until|based\son))\s+"
    r"(?P<what>[^.;,:()\n\u2013\u2014]{3,120}?)(?=\s*(?:[.;,:()\u2013\u2014](?:\s|$|\W)|\s[-\u2013\u2014]|\n|$))",
    re.IGNORECASE,
)
_ONE_TIME = re.compile(r"(?:per|an?|again|more|and|or|in|for|with|at|to|on|only|every)\b", re.I)
_FINITE = re.compile(
    r"\b(?:is|are|has|have|was|were|can|match(?:es)?|agree[sd]?|pass(?:es)?|works?|exists?|lands?"
    r"|imports?|uses?|no\slonger|any\s?more)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?:all|every\w*|nothing|nobody|no\sone|none)\b", re.IGNORECASE)
_THEY = re.compile(r"(?:both|these|those|they|the\sothers)\b", re.IGNORECASE)
_IS_OVER = re.compile(
    r"\bany\s?more\b|\bany\slonger\b|\bno\slonger\b|\b(?:is|are|has\sbeen|have\sbeen)\s+(?:\w+ly\s)?"
    r"(?:moved|done|merged|in|ported|migrated|gone|finished|ready|green|converted|replaced|removed"
    r"|landed|extracted|split|out|complete[d]?|updated|at)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """What a clause of time says: the tasks that it names, or the words that name none."""

    names: tuple[str, ...] = ()
    unread: str = ""


def find_clauses(
    text: str, task: PlanTask, known: References, read: Sequence[Mention]
) -> Iterator[Clause]:
    """The clauses that tell when a task may begin: by a title, or by all work above. `read`: the
    references of the text; a clause with one of them is read already."""
    for match in islice(_CLAUSE.finditer(text), MOST_MENTIONS):
        if any(match.start() < one.at < match.end() for one in read if one.is_source):
            continue
        what, is_once = match["what"], match["word"].lower() == "once"
        if is_once and (_ONE_TIME.match(what) or not _FINITE.search(what)):
            continue
        if _WHOLE.match(what) and (is_once or _IS_OVER.search(what)):
            yield Clause(tuple(known.all_above(task)))
        elif found := _named_in(strip_state(what), task, known):
            yield Clause(tuple(found))
        elif is_once or (_THEY.match(what) and _IS_OVER.search(what)):
            yield Clause(unread=match[0].strip())


def _named_in(words: str, task: PlanTask, known: References) -> list[str]:
    named = [name for _, names in known.find(words, task) for name in names]
    found = named or known.find_section(words, task)
    return [] if task.id in found else found


_STATE = re.compile(
    r"\s+(?:(?:is|are|has|have|was|were)\s+(?:been\s+)?\w+(?:\s+(?:on|in|up|out|off|over|through))?"
    r"|exists?|lands?|landed|done|merged|merges|in|finished|complete[ds]?|ready|shipped|ships"
    r"|works?|only|alone|first)$",
    re.IGNORECASE,
)


def strip_state(words: str) -> str:
    """The words without what is said about their state: `the tar is ready` is `the tar`."""
    return _STATE.sub("", words.strip())
