"""What a session says at its end: which of its tasks are not done, and why.

Every mention of "not done" is read with its clause, in any layout: `NOT DONE two: no network`,
`- two: NOT DONE`, a row of a table, prose, or a list below a bare `NOT DONE`. In doubt a task is
not done: another session then looks again. If a mention names no task, or something besides tasks,
every task of the session counts as not done.

Names are replaced by one letter each before anything else is read, so that `no-cache`,
`search-and-replace` or a title with a colon cannot be taken for words of the report.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from holdfast.run.supervisor import STOPPED, WAITING, find_claims

# Rare Chinese characters: letters to every pattern, and 42,719 of them.
_FIRST_LETTER = 0x20000
_LETTER = "[\U00020000-\U0002a6de]"
_FORMATTING = re.compile(r"`|\*(?=\S)|(?<=\S)\*|\r|\(\d+ ?(?:of|/) ?\d+\)")
_WORD = re.compile(r"[^\W_]")
_PUNCTUATION = re.compile(r"[\W_]*")
_BULLET = re.compile(r"[^\w\n|#]*(?:\[[ x]\]\s*|\w{1,3}[.)]\s+)?[^\w\n|#]*", re.IGNORECASE)
_RANGE = re.compile(
    rf"({_LETTER})\s*(?:[-\u2013\u2014]|\.\.+|\bto\b|\bthrough\b)\s*(?:tasks?\s+)?#?({_LETTER})",
    re.IGNORECASE,
)
_BETWEEN_NAMES = re.compile(rf"{_LETTER}|\b(?:tasks?|and|or|nor|both|to|through)\b", re.IGNORECASE)
# Where the clause before a mention begins. `Done: one, two` names what is done, up to its end.
_CLAUSE = re.compile(r"[;!?✅]|\.(?=\s)|\bdone\b\s*:[^;.]*|\bdone\b", re.IGNORECASE)
_HALT = re.compile(rf"[\W_]*(?:reason\b[\W_]*)?((?:{WAITING}|{STOPPED})\b.*)", re.IGNORECASE)
_PAUSE = re.compile(r"[,;.]")
_CELL_HALT = re.compile(rf"\|[\W_]*((?:{WAITING}|{STOPPED})\b[^|]*)", re.IGNORECASE)
# What stands between names and the reason. Before another name, most of it goes on with names.
_REASON = re.compile(
    rf"[:(=→]|(?:[|;\u2014]|\.(?=\s|$)|\s[-\u2013\u2014]+(?=\s|$))(?!\s*#?{_LETTER})"
    rf"|(?<={_LETTER})[\s,]+(?=(?:{WAITING}|{STOPPED})\b)",
    re.IGNORECASE,
)
_ROW = re.compile(r"\s*\|")
_NOUN = re.compile(r"\s+(?:items?|tasks?|entries|todos?|rows|cards|steps)\b", re.IGNORECASE)
_CLAIMS = re.compile(
    r"(?:\b(?:is|are|was|were|be|been|remains?|stays?|still|yet|left|leaves?|have|has|had)|['\u2019]ve)"
    r"[\W_]*\Z",
    re.IGNORECASE,
)
# A further name behind the first one and its reason: `two (no network), three (no key)`.
_FURTHER = re.compile(
    rf"(?:[.,;(|+/&]|\band\b|\bso (?:is|are|was|were)\b)[\s_#]*"
    rf"(?:(?:also|plus|the|task)\s+)*({_LETTER})"
    r"(?=[\s_]*(?:[:(=→,.;|)\u2013\u2014-]|too\b|because\b|$))([^,;|]*)",
    re.IGNORECASE,
)
_FURTHER_LINE = re.compile(rf"[\W_]*({_LETTER})(?=\s*[:(=→\u2013\u2014-])(.*)")
_CALLED_DONE = re.compile(r"[\W_]*(?:done|finished|completed?)\b|[^\w✅✔☑]*[✅✔☑]", re.IGNORECASE)
MAX_HEAD_CHARS = 120


@dataclass(frozen=True, slots=True)
class SessionReport:
    """`undone`: the positions of its tasks that are not done; `named`: how the report names them;
    `reason`: the text after the first of them; `halt`: why no other session is to be tried."""

    undone: tuple[int, ...] = ()
    named: tuple[str, ...] = ()
    reason: str = ""
    halt: str = ""


@dataclass(frozen=True, slots=True)
class _Claim:
    """One mention of "not done". Without tasks it is not clear which ones it means."""

    tasks: frozenset[int]
    head: str
    reason_at: int
    halt: str
    is_attribute: bool  # "a filter for not done items"


@dataclass(frozen=True, slots=True)
class _Mention:
    """A mention on line `at`, with the words before and behind it that are not another's."""

    at: int
    before: str
    after: str
    is_row: bool  # of a table
    is_first: bool  # on its line
    is_last: bool

    @property
    def is_bare(self) -> bool:
        return self.is_last and not _WORD.search(self.after)

    @property
    def is_attribute(self) -> bool:
        """Whether it tells of which kind something is, not that something is so."""
        return bool(_NOUN.match(self.after)) and not _CLAIMS.search(self.before)


@dataclass(frozen=True, slots=True)
class _Subject:
    """What stands before a mention in its clause. A label (`two:`) is followed by the reason."""

    tasks: frozenset[int] = frozenset()
    has_words: bool = False
    is_label: bool = False


def read_report(words: str, names: Sequence[Collection[str]]) -> SessionReport:
    """Read a report. `names`: how each task of the session may be called, its id first."""
    known = _TaskNames(names)
    text = known.mask(words)
    claims = list(_Reader(text, known).claims())
    if not claims:
        return SessionReport()
    is_clear = all(claim.tasks for claim in claims)
    undone = frozenset[int]().union(*(claim.tasks for claim in claims))
    return SessionReport(
        undone=tuple(sorted(undone)) if is_clear else tuple(range(len(names))),
        named=tuple(dict.fromkeys(name for claim in claims for name in known.describe(claim))),
        reason=known.unmask(text[claims[0].reason_at :]).lstrip(" \t:*_"),
        halt=known.unmask(next((claim.halt for claim in claims if claim.halt), "")),
    )


class _TaskNames:
    """Finds tasks by what they may be called. Two tasks may have the same title: it means both."""

    def __init__(self, names: Sequence[Collection[str]]) -> None:
        self._ids = [next(iter(some)) for some in names]
        tasks: dict[str, set[int]] = {}
        shown: dict[str, str] = {}
        for at, some in enumerate(names):
            for name in filter(_WORD.search, some):
                text = _clean(name).strip(" \t.:!")
                shown.setdefault(text.lower(), text)
                tasks.setdefault(text.lower(), set()).add(at)
        texts = sorted(tasks, key=len, reverse=True)  # a longer name is not cut by a shorter
        self._shown = [shown[text] for text in texts]
        self._tasks = [frozenset(tasks[text]) for text in texts]
        names_pattern = "|".join(map(_bordered, texts)) or r"(?!)"
        self._pattern = re.compile(rf"(?<![^\W_])(?:{names_pattern})", re.IGNORECASE)

    def mask(self, words: str) -> str:
        """The report without formatting, with one letter for each name."""
        return self._pattern.sub(
            lambda found: chr(_FIRST_LETTER + (found.lastindex or 1) - 1), _clean(words)
        )

    def unmask(self, text: str) -> str:
        return re.sub(_LETTER, lambda found: self._shown[ord(found[0]) - _FIRST_LETTER], text)

    def find(self, text: str) -> frozenset[int]:
        """The tasks that a text names, one by one or as a range in their order."""
        found = set[int]().union(*(self._tasks_of(one) for one in re.findall(_LETTER, text)))
        for first, last in _RANGE.findall(text):
            ends = self._tasks_of(first) | self._tasks_of(last)
            found.update(range(min(ends), max(ends) + 1))
        return frozenset(found)

    def find_only(self, text: str) -> frozenset[int]:
        """The same, if the text has no other words; else none."""
        return frozenset() if _WORD.search(_BETWEEN_NAMES.sub("", text)) else self.find(text)

    def describe(self, claim: _Claim) -> list[str]:
        if claim.tasks:
            return [self._ids[at] for at in sorted(claim.tasks)]
        return [self.unmask(claim.head).strip(" \t_,.")[:MAX_HEAD_CHARS] or "?"]

    def _tasks_of(self, letter: str) -> frozenset[int]:
        return self._tasks[ord(letter) - _FIRST_LETTER]


def _clean(words: str) -> str:
    return re.sub(_LETTER, "?", _FORMATTING.sub("", words))


def _bordered(name: str) -> str:
    """A pattern for a name as a whole word. Only a number may have a number behind a hyphen."""
    joined = r"[^\W\d_]" if name.isdecimal() else r"[^\W_]"
    words = r"[ \t]+".join(map(re.escape, name.split()))
    before = rf"(?<!{joined}-)(?<![^\W_]\.)"
    return rf"{before}({words})(?![^\W_]|-{joined}|\.[^\W_])"


class _Reader:
    """Reads the claims of a report whose names are masked, in time linear in its length: each
    mention looks at its own part of its line, and only the first and the last at other lines."""

    def __init__(self, text: str, known: _TaskNames) -> None:
        self._text, self._known = text, known
        self._lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]

    def claims(self) -> Iterator[_Claim]:
        end_of_text = (len(self._text), len(self._text))
        used = 0
        for (start, end), (until, _) in pairwise([*find_claims(self._text), end_of_text]):
            at = bisect_right(self._starts, start) - 1
            if self._starts[at] < used and self._is_reason(used, start, end):
                used = end
                continue
            claim = self._claim(at, max(used, self._starts[at]), start, end, until)
            used = min(claim.reason_at, until)
            if claim.tasks or not claim.is_attribute:
                yield claim

    def _is_reason(self, begin: int, start: int, end: int) -> bool:
        """Whether a mention is part of the reason of the one before it: `NOT DONE two: the schema
        is not done yet`."""
        between = self._text[begin:start]
        is_own = self._text[start:end].isupper() or self._known.find(between)
        return bool(_WORD.search(between)) and not is_own and not _PAUSE.search(between)

    def _claim(self, at: int, begin: int, start: int, end: int, until: int) -> _Claim:
        """Read the mention from `start` to `end` on line `at`. `begin`, `until`: how far its words
        may reach before and behind it."""
        first, line_end = self._starts[at], self._starts[at + 1] - 1
        mention = _Mention(
            at=at,
            before=self._text[begin:start],
            after=self._text[end : min(until, line_end)],
            is_row=bool(_ROW.match(self._lines[at])),
            is_first=begin == first,
            is_last=until >= line_end,
        )
        subject = self._subject(mention)
        lead = _match_end(_PUNCTUATION, mention.after)
        head, reason_at = _split_head(mention.after, lead)
        tasks = self._tasks(mention, subject, head)
        tasks = tasks and tasks | self._further(mention, subject)
        if subject.is_label and not self._known.find_only(head):
            reason_at = lead
        is_prose = subject.has_words and not subject.is_label
        # Prose that names no task may speak of anything.
        halt = "" if is_prose and not tasks else self._halt(mention, reason_at)
        is_attribute = is_prose and self._text[start:end].islower() and mention.is_attribute
        return _Claim(tasks, head, end + reason_at, halt, is_attribute)

    def _subject(self, mention: _Mention) -> _Subject:
        known, before = self._known, mention.before
        if mention.is_row:
            tasks = frozenset[int]().union(*map(known.find_only, before.split("|")))
            return _Subject(tasks, bool(_WORD.search(before)), is_label=True)
        if mention.is_first:
            before = before[_match_end(_BULLET, before) :]
        before = _CLAUSE.split(before)[-1].rstrip(" \t_([\"'")
        if not _WORD.search(before) or before.endswith(","):
            return _Subject()
        if before[-1].isalnum():
            return _Subject(known.find(before), has_words=True)
        return _Subject(known.find_only(before), has_words=True, is_label=True)

    def _tasks(self, mention: _Mention, subject: _Subject, head: str) -> frozenset[int]:
        """The tasks that a mention calls not done; none if that is not clear."""
        named = self._known.find_only(head)
        if subject.is_label and subject.has_words:
            return subject.tasks and subject.tasks | named
        if subject.tasks:
            others = (part for part in head.split(",") if not _CLAUSE.search(part))
            return subject.tasks | self._known.find(",".join(others))
        if mention.is_bare:
            return self._tasks_around(mention)
        if named and mention.is_last and mention.after.endswith(head):
            goes_on = self._known.find_only(_item_head(self._line(mention.at + 1)))
            return frozenset() if goes_on else named
        return named or (frozenset() if subject.has_words else self._tasks_above(mention))

    def _further(self, mention: _Mention, subject: _Subject) -> frozenset[int]:
        """Further tasks of an enumeration with reasons, on the same line or the next ones. Items of
        a list that has the mention in another item speak for themselves."""
        found = list(_FURTHER.findall(mention.after))
        is_item = _is_bulleted(self._lines[mention.at]) and not mention.is_bare
        if mention.is_last and not (subject.has_words or is_item or mention.is_row):
            found += self._further_lines(mention.at)
        names = "".join(name for name, rest in found if not _CALLED_DONE.match(rest))
        return self._known.find(names)

    def _further_lines(self, at: int) -> Iterator[tuple[str, str]]:
        for number in range(at + 1, len(self._lines)):
            further = _FURTHER_LINE.match(self._lines[number])
            if further:
                yield further[1], further[2]
            elif self._lines[number].strip():
                return

    def _tasks_around(self, mention: _Mention) -> frozenset[int]:
        """The tasks that a bare `NOT DONE` means: in the list below it, or directly above it."""
        listed = self._listed(mention)
        is_title = ":" in mention.after or self._lines[mention.at].startswith("#")
        return listed if listed and is_title else listed | self._tasks_above(mention)

    def _tasks_above(self, mention: _Mention) -> frozenset[int]:
        """The task of the heading directly above, or of the item that an indented line is in."""
        at = mention.at
        above = self._line(at - 1) or self._line(at - 2)
        if not mention.is_first or not above:
            return frozenset()
        if self._line(at - 1) and _indent(above) < _indent(self._lines[at]):
            return self._known.find_only(_item_head(above))
        is_heading = above.startswith("#") or (self._line(at - 1) and not _is_bulleted(above))
        return self._known.find_only(above) if is_heading else frozenset()

    def _listed(self, mention: _Mention) -> frozenset[int]:
        """The tasks of the list directly below; none if an item is something else."""
        found = frozenset[int]()
        for item in self._items(mention):
            tasks = self._item_tasks(self._lines[item])
            if not tasks:
                return frozenset()
            found |= tasks
        return found

    def _item_tasks(self, line: str) -> frozenset[int]:
        cells = line.split("|") if _ROW.match(line) else [_item_head(line)]
        return frozenset[int]().union(*map(self._known.find_only, cells))

    def _items(self, mention: _Mention) -> Iterator[int]:
        """The lines of the list below, without what belongs to an item. A list without bullets
        ends at an empty line."""
        indent, is_bulleted, has_gap = -1, False, False
        for at in range(mention.at + 1, len(self._lines)):
            line = self._lines[at]
            if not _WORD.search(line):
                has_gap = has_gap or not line.strip()
                continue
            if indent < 0:
                indent, is_bulleted, has_gap = _indent(line), _is_bulleted(line), False
            is_other = _is_bulleted(line) != is_bulleted or (has_gap and not is_bulleted)
            if line.startswith("#") or _indent(line) < indent:
                return
            if _indent(line) > indent or _is_underline(self._line(at + 1)):
                continue
            if is_other:
                return
            has_gap = False
            yield at

    def _halt(self, mention: _Mention, reason_at: int) -> str:
        """Why no other session is to be tried, if the reason says that."""
        reason = mention.after[reason_at:]
        if mention.is_last and not _WORD.search(reason):
            reason = self._line(mention.at + 1)
        found = _HALT.match(reason)
        if mention.is_row and mention.is_last:
            found = found or _CELL_HALT.search(self._lines[mention.at])
        if mention.is_bare:
            found = found or self._list_halt(mention)
        return _trim(found[1]) if found else ""

    def _list_halt(self, mention: _Mention) -> re.Match[str] | None:
        for at in self._items(mention):
            line = self._lines[at]
            if not self._item_tasks(line):
                return None
            reason = line[_split_head(line, _match_end(_BULLET, line))[1] :]
            reason = reason if _WORD.search(reason) else self._line(at + 1)
            if found := _CELL_HALT.search(line) or _HALT.match(reason):
                return found
        return None

    def _line(self, at: int) -> str:
        return self._lines[at] if 0 <= at < len(self._lines) else ""


def _split_head(text: str, begin: int) -> tuple[str, int]:
    """What is named from there on, and where the reason begins."""
    if _HALT.match(text, begin):
        return "", begin
    found = _REASON.search(text, begin)
    return (text[begin : found.start()], found.end()) if found else (text[begin:], len(text))


def _item_head(line: str) -> str:
    return _split_head(line, _match_end(_BULLET, line))[0]


def _is_bulleted(line: str) -> bool:
    return _match_end(_BULLET, line) > _indent(line)


def _is_underline(line: str) -> bool:
    """Whether it stands below the head of a table."""
    return "|" in line and "-" in line and not line.strip(" \t|:-")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _match_end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def _trim(halt: str) -> str:
    halt = halt.rstrip(" \t*_`\"'|")
    return halt if "(" in halt else halt.rstrip(")")
