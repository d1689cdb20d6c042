"""What a summary calls done although the record shows it as open, with the evidence.

A false alarm costs more than a miss. A sentence is flagged only if it names the exact command,
test, task or step, repeats a wish without any later trace, calls all tests passed after the last
test run failed, or calls all tasks done while one is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from holdfast.brief.item import FalseClaim, short
from holdfast.brief.summary_passages import without_tags
from holdfast.record import open_items, runs
from holdfast.record.model import Failure, Place, Record, Task
from holdfast.record.turns import turn_number
from holdfast.text import progress
from holdfast.text.fence import flat, quoted
from holdfast.text.sentences import LIGHT, split

MOST_LINES = 2_000
LONGEST = 300
# Under these headings a summary quotes the user, or lists future work.
_QUOTING = ("request", "user message", "messages of the user")
_TO_COME = ("pending", "next step", "to do", "todo", "remaining", "not done", "still open")


def sentences(summary: str) -> Iterator[str]:
    """Yield the sentences as they were written, without quotes of the user, code and lists of
    future work."""
    quoting = numbered = in_code = to_come = False
    for line in without_tags(summary).splitlines()[:MOST_LINES]:
        bare = line.strip().strip("*# ")
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif _is_heading(line, bare) or (numbered and line[:1].isdigit()):
            head = bare.lower()[:60]
            quoting = any(cue in head for cue in _QUOTING)
            to_come = any(cue in head for cue in _TO_COME) and bare.endswith(":")
            numbered = line[:1].isdigit()
        if quoting or in_code or to_come or bare[:1] in ('"', ">", "“", "|"):
            continue
        for part in re.split(r"(?<=[.!?]) | but ", re.sub(r"^(?:[-*•]|\d+[.)]) +", "", bare)):
            if len(part.strip()) > 8:
                yield flat(part, LONGEST)


def _is_heading(line: str, bare: str) -> bool:
    if line.startswith("#") or (bare.endswith(":") and len(bare) < 60):
        return True
    return line[:1].isdigit() and ":" in line[:60]  # `3. Files and Code Sections: …`


STEM = 5  # letters that forms of a word share: paint, painted
_ALWAYS = 1 << 60  # a step after every other
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")

Words = set[str]


class Traces:
    """What was edited, written, run, ticked off and said, each with its last step."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def all_run(self, wanted: Words, since: int) -> bool:
        """Whether commands that passed since then contain all of these words together."""
        return bool(wanted) and all(self._last_run.get(word, -1) > since for word in wanted)

    def any_done(self, wanted: Words, since: int) -> bool:
        """Whether something done since then contains one of these words."""
        return any(self._last_done.get(word, -1) > since for word in wanted)

    def half_done(self, wanted: Words, since: int) -> bool:
        """Whether one thing done since then contains at least two of these words, and half of
        them."""
        shared = (len(wanted & words) for op, words in self._work if op > since)
        return any(count > 1 and 2 * count >= len(wanted) for count in shared)

    def half_said(self, wanted: Words, since: int) -> bool:
        """Whether one text since then contains half of these words."""
        shared = (len(wanted & words) for op, words in self._texts if op > since)
        return any(2 * count >= len(wanted) for count in shared)

    @cached_property
    def _runs(self) -> list[tuple[int, Words]]:
        return [(one.op, parts(key)) for key, one in self._record.commands.items() if one.ok]

    @cached_property
    def _work(self) -> list[tuple[int, Words]]:
        """Return what was done. A task that is ticked off counts at any time."""
        files, names = self._record.files.items(), self._record.names.items()
        ticked = (one.text for one in self._record.tasks.values() if not one.is_open)
        return [
            *((one.op, parts(short(path))) for path, one in files if one.edits),
            *((one.op, parts(name)) for name, one in names if one.file),
            *((_ALWAYS, parts(text)) for text in ticked),
            *self._runs,
        ]

    @cached_property
    def _texts(self) -> list[tuple[int, Words]]:
        """Return the texts, newest first: they most likely contain what is searched."""
        turns = self._record.turns
        texts = [
            *((one.place.op, one.asked) for one in turns),
            *((one.said_op, one.said) for one in turns),
            *((one.place.op, one.text) for one in self._record.remarks),
        ]
        return [(op, telling_words(text)) for op, text in sorted(texts, reverse=True)]

    @cached_property
    def _last_run(self) -> dict[str, int]:
        return _last(self._runs)

    @cached_property
    def _last_done(self) -> dict[str, int]:
        return _last(self._work)


def _last(pieces: list[tuple[int, Words]]) -> dict[str, int]:
    """Return the last step at which each word occurs."""
    found: dict[str, int] = {}
    for op, words in pieces:
        for word in words:
            found[word] = max(op, found.get(word, -1))
    return found


def parts(text: str) -> Words:
    """Return the words in an identifier: `addTideTable()` and `add-tide_tables.py` share three."""
    found = {part.lower().rstrip("s") for part in _PART.findall(text)}
    return {part for part in found if len(part) > 3} - LIGHT


def telling_words(text: str) -> Words:
    """Return the stems of the words that tell what a text is about."""
    plain = "".join(mark if mark.isalnum() or mark in "_./-" else " " for mark in text.lower())
    wide = (a + b for a, b in pairwise(plain) if a > "⺀" and b > "⺀")  # scripts without blanks
    found = (word.strip("./-") for word in plain.split())
    return {word[:STEM] if word.isalpha() else word for word in found if len(word) > 3} | set(wide)


MOST_TASKS = 200
TASK_SOURCES = ("task", "todo")
MOST_TURNS, MOST_WISHES = 200, 600  # the newest
ENOUGH = 0.75  # of the telling words of a task with more than three
LEAST_WORDS = 3  # telling words that identify a clause
_CODE = re.compile(r"[`/_()]|\w\.\w|[a-z][A-Z]")
_TEST = re.compile(r"\b(?:test_\w+|Test[A-Z_]\w+)\b(?!\.\w)")
_SCRIPT = re.compile(r"[\w-]+\.(?:sh|py|js|ts|rb|mjs)\b")
_MEANS = re.compile(
    r"(?<!problem )(?<!issue )(?<!error )(?<!failure )"
    r"\b(?:with|using|via|by|through|run|ran|running)$"
)
_GOES_ON = re.compile(r"[\w/-]| [-\w]*[-/.=]\w")
# "All 13 tests passed" may be about another run: only words for all tests count.
_ALL_TESTS = re.compile(
    r"(?:^|[(:✅,\u2013\u2014-] ?|\b(?:all|every|the|our|full|whole|entire|and) )"
    r"tests?(?: suite)?[: ]+(?:(?:are|is|now|all|both|still|currently|again|have|has) )*"
    r"(?:pass|passes|passed|passing|green|succeeds?|succeeded)\b"
    r"(?! (?:in|for|on|with|under|of|individually|alone)\b)"
    r"|\b(?:full|whole|entire) suite (?:now |is |was )*(?:passes|passed|passing|green)\b"
)
# These report success without a word for "done".
_NO_FAILURES = re.compile(
    r"\b(?:no|zero) (?:more |remaining )?(?:failing|broken) tests?\b"
    r"|\bno tests? (?:fail|are failing)\b"
    r"|\btests\b[^.]{0,20}\b(?:laufen\b[^.]{0,20}\bdurch|bestehen|sind (?:alle )?grün)\b"
    r"|\btodas las pruebas pasan\b|\btous les tests passent\b"
)
_ALL_TASKS = re.compile(
    r"\b(?:all|every) (?:of )?(?:the |my |our )?(?:remaining |open |listed |planned )?"
    r"(?:tasks?|to-?dos?|to-?do items?)(?: on the (?:task |to-?do )?list)? "
    r"(?:is|are|was|were|has been|have been|now) (?:now |all )?"
    r"(?:done|completed?|finished|closed)\b"
    r"|\bnothing (?:is |was )?(?:left|open) (?:on|in) the (?:task |to-?do )list\b"
)
_TODOS = re.compile(r"(?<=\ball )to-?dos?(?: items)?\b", re.IGNORECASE)  # "TODO" marks open work
_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")


class _Open(NamedTuple):
    """Something that is not done, the words that identify it, and the evidence."""

    text: str
    words: set[str]
    evidence: str
    place: Place
    is_wish: bool = False  # identified by words only
    is_task: bool = False  # of the list that the client shows


def find_contradictions(record: Record, summary: str) -> list[FalseClaim]:
    """Return the sentences that call something open done: one for each failure, task and step, and
    for each wish that was not mentioned since."""
    found: dict[str, FalseClaim] = {}
    failing, traces = open_items.failures(record), Traces(record)
    todo = [*_listed(record), *list(_wished(record))[-MOST_WISHES:]]
    for sentence in dict.fromkeys(sentences(summary)):  # 3,750 equal sentences took 3.4 s
        if progress.speaks_of_open_work(_TODOS.sub("tasks", sentence)):
            continue
        is_done, ended = progress.calls_done(sentence), _ended(sentence)
        told = telling_words(sentence)
        says_all_done = bool(_ALL_TASKS.search(sentence.lower()))
        broken = [one for one in failing if is_done and _names(sentence, one)]
        if not broken and _says_all_pass(sentence, is_done=is_done):
            broken = _last_test_run(record, failing)
        for failure in broken:
            found.setdefault(failure.command, FalseClaim(sentence, _failed(failure), failure.place))
        named = [
            one
            for one in todo
            if (_covers(told, one.words) and (is_done or _is_told_done(one.text, ended)))
            or (one.is_task and says_all_done)
        ]
        for one in named:
            if one.text not in found and not _is_worked_on(traces, one):
                found[one.text] = FalseClaim(sentence, one.evidence, one.place)
        if named:  # each is settled by the first sentence that names it
            settled = set(map(id, named))
            todo = [one for one in todo if id(one) not in settled]
    return list(found.values())


def _is_worked_on(traces: Traces, item: _Open) -> bool:
    """Whether there are traces of work on it: an outdated list proves nothing against work done
    since. For a wish any trace counts."""
    since, wanted = item.place.op, parts(item.text)
    if traces.all_run(wanted, since):
        return True
    if item.is_wish:
        is_done = traces.any_done(wanted, since) or progress.calls_done(item.text)
        return is_done or traces.half_said(item.words, since)
    return traces.half_done(wanted, since)


def _listed(record: Record) -> Iterator[_Open]:
    """Open tasks and steps of plans."""
    for one in [*open_items.tasks(record), *open_items.steps(record)][:MOST_TASKS]:
        is_task = one.source in TASK_SOURCES
        words = _item_words(one.text)
        yield _Open(one.text, words, _is_open(one), one.place, is_task=is_task)


def _wished(record: Record) -> Iterator[_Open]:
    """Yield what the user asked for and what the model listed, sentence by sentence."""
    asked = [
        (one.place, split(one.asked)) for one in record.turns[-MOST_TURNS:] if not one.taken_back
    ]
    for place, wishes in [*asked, *((one.place, _items(one.text)) for one in record.remarks)]:
        since = turn_number(record, place)
        for wish in wishes:
            if len(words := _item_words(wish)) >= LEAST_WORDS:
                evidence = (
                    f"nothing since turn {since} tells that it is done: {quoted(flat(wish, 140))}"
                )
                yield _Open(wish, words, evidence, place, is_wish=True)


def _items(remark: str) -> list[str]:
    """Return the items of a list that are plain words: work on code shows in the edits."""
    found = [part.rpartition(". ")[2].strip() for part in remark.split(";")[:-1]]
    return [one for one in found if not _CODE.search(one)] if len(found) > 1 else []


def _item_words(text: str) -> set[str]:
    """Return the words that identify an item, without its verb and without paths: a report that it
    is done seldom repeats them."""
    words = telling_words(text.partition(" ")[2]) or telling_words(text)
    named = {word for word in words if "/" not in word}
    return named if len(named) > 1 else words


def _ended(sentence: str) -> list[str]:
    """Return the words that may tell of something done: renamed, written, built."""
    words = (word.strip(".,:;()*`") for word in sentence.lower().split())
    return [word for word in words if word.endswith(("ed", "en", "t"))]


def _is_told_done(item: str, ended: list[str]) -> bool:
    """Whether the sentence has the verb of the item as something done: "Rename it", "it was
    renamed"."""
    verb = item.partition(" ")[0].lower()
    return len(verb) > 3 and any(word[:4] == verb[:4] and word != verb for word in ended)


def _names(sentence: str, failure: Failure) -> bool:
    """Whether a sentence names the command, its script, a test that failed in it or what it tests,
    or repeats the message."""
    low = sentence.lower()
    if any(_stands_in(part.lower(), low) for part in _spellings(failure)):
        return True
    if not _programs(failure).isdisjoint(_SCRIPT.findall(sentence)):
        return True
    told, words = telling_words(sentence), map(telling_words, failure.lines)
    if any(len(one) >= LEAST_WORDS and _covers(told, one) for one in words):
        return True
    if _is_its_test(sentence, failure) or _is_its_error(sentence, failure):
        return True
    tested = parts(failure.command.rpartition(" ")[2]) - {"test", "spec"}
    is_test = runs.kind(failure.command) == "test" and " test" in low
    return is_test and bool(tested) and tested <= parts(sentence)


def _is_its_test(sentence: str, failure: Failure) -> bool:
    """Whether it names a test that failed, or all words of its name: "the holiday route"."""
    tests, said = _tests_of(failure), parts(sentence)
    if not tests.isdisjoint(_TEST.findall(sentence)):
        return True
    names = (parts(name) - {"test"} for name in tests)
    return any(len(words) > 1 and words <= said for words in names)


def _is_its_error(sentence: str, failure: Failure) -> bool:
    """Whether it names the kind of error, and something else from the message or the command."""
    said = "\n".join((failure.command, *failure.lines))
    kinds = set(_ERROR.findall(said)) & set(_ERROR.findall(sentence))
    return bool(kinds) and bool(parts(_ERROR.sub("", said)) & parts(_ERROR.sub("", sentence)))


def _says_all_pass(sentence: str, *, is_done: bool) -> bool:
    if is_done and _ALL_TESTS.search(progress.normalize(sentence)):
        return True
    return bool(_NO_FAILURES.search(sentence.lower()))


def _spellings(failure: Failure) -> Iterator[str]:
    """Yield the command, and each of its simple commands without the folder."""
    yield failure.command
    for part in failure.left:
        yield part.rpartition(" && ")[2]


def _programs(failure: Failure) -> set[str]:
    """Return the scripts that the command runs. Scripts that are only its arguments tell nothing
    about its result."""
    words = [part.rpartition(" && ")[2].split()[:2] for part in failure.left]
    return {name for some in words for word in some for name in _SCRIPT.findall(word)}


def _stands_in(command: str, text: str) -> bool:
    """Whether the command occurs as it is and by itself: `make` is not in `cmake`, nor `go test` in
    `go test ./a`. A command that something was fixed with is not the one that was fixed."""
    at = text.find(command) if len(command) > 4 else -1
    while at >= 0:
        before, after = text[:at].rstrip("` "), text[at + len(command) :]
        if not (_MEANS.search(before) or _GOES_ON.match(after) or text[at - 1 : at].isalnum()):
            return True
        at = text.find(command, at + 1)
    return False


def _tests_of(failure: Failure) -> set[str]:
    return {name for line in failure.lines for name in _TEST.findall(line)}


def _last_test_run(record: Record, failing: list[Failure]) -> list[Failure]:
    """Return the last run of any tests, if it failed and ran nothing but tests: otherwise a lint or
    a build may have failed instead."""
    known = record.commands
    runs = [key for key, one in known.items() if one.kind == "test" and one.ok is not None]
    last = max(runs, key=lambda key: known[key].op, default="")
    return [one for one in failing if one.command == last and " && " not in last]


def _failed(failure: Failure) -> str:
    said = failure.lines[0] if failure.lines else "failed"
    return f"`{flat(failure.command, 120)}` last failed: {flat(said, 140)}"


def _is_open(task: Task) -> str:
    what = "task" if task.source in TASK_SOURCES else "planned step"
    return f"the {what} is not done but {task.status.replace('_', ' ')}: {flat(task.text, 140)}"


def _covers(told: set[str], words: set[str]) -> bool:
    """Whether a sentence contains the telling words of the task."""
    shared = len(words & told)
    return len(words) > 1 and shared >= (len(words) if len(words) < 4 else ENOUGH * len(words))
