"""What a summary calls done although it is open in the record, with the evidence.

A false alarm costs more than a miss: a sentence is flagged only where it names the very command,
test, task or step, or speaks of all tests where the last run of any has failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.brief import asserted
from holdfast.brief.fence import flat
from holdfast.brief.item import Claim
from holdfast.record import open_items
from holdfast.record.model import Failure, Record, Task

MOST_TASKS = 200
ENOUGH = 0.75  # of the telling words of a task, of more than three
_TEST = re.compile(r"\b(?:test_\w+|Test[A-Z_]\w+)\b(?!\.\w)")
_SCRIPT = re.compile(r"[\w-]+\.(?:sh|py|js|ts|rb|mjs)\b")
_MEANS = re.compile(r"\b(?:with|using|via|by|through|run|ran|running)$")
_GOES_ON = re.compile(r"[\w/-]| [-\w]*[-/.=]\w")
_ALL_TESTS = re.compile(
    r"(?:^|[(:✅,\u2013\u2014-] ?|\b(?:all|every|the|our|full|whole|entire|and|\d+) )"
    r"tests?(?: suite)?[: ]+(?:(?:are|is|now|all|both|still|currently|again|have|has) )*"
    r"(?:pass|passes|passed|passing|green|succeeds?|succeeded)\b"
    r"(?! (?:in|for|on|with|under|of|individually|alone)\b)"
)


def contradicted(record: Record, summary: str) -> list[Claim]:
    """Sentences that call an open failure, an open task or an open step of a plan done."""
    found: list[Claim] = []
    failing = open_items.failures(record)
    known = [*open_items.tasks(record), *open_items.steps(record)][:MOST_TASKS]
    todo = [(task, _telling(task.text.partition(" ")[2]) or _telling(task.text)) for task in known]
    for sentence in asserted.sentences(summary):
        if not asserted.calls_done(sentence):
            continue
        broken = [one for one in failing if _names(sentence, one)]
        if not broken and _ALL_TESTS.search(asserted.plain(sentence)):
            broken = _last_test_run(record, failing)
        found += [Claim(sentence, _failed(one), one.place) for one in broken]
        told = _telling(sentence)
        named = [task for task, words in todo if _covers(told, words)]
        found += [Claim(sentence, _is_open(one), one.place) for one in named]
    return list({(claim.sentence, claim.evidence): claim for claim in found}.values())


def _names(sentence: str, failure: Failure) -> bool:
    """It names the command, the script it runs, or a test that failed in it."""
    low = sentence.lower()
    if any(_stands_in(part.lower(), low) for part in _spellings(failure)):
        return True
    if not _programs(failure).isdisjoint(_SCRIPT.findall(sentence)):
        return True
    return not _tests_of(failure).isdisjoint(_TEST.findall(sentence))


def _spellings(failure: Failure) -> Iterator[str]:
    """The command, and each simple command of it without the folder it runs in."""
    yield failure.command
    for part in failure.left:
        yield part.rpartition(" && ")[2]


def _programs(failure: Failure) -> set[str]:
    """Scripts that the command runs; those it is only given say nothing of how it went."""
    words = [part.rpartition(" && ")[2].split()[:2] for part in failure.left]
    return {name for some in words for word in some for name in _SCRIPT.findall(word)}


def _stands_in(command: str, text: str) -> bool:
    """As it is and by itself: `make` is not in `cmake`, nor `go test` in `go test ./a`; and what
    something was fixed with is not what was fixed."""
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
    """The last run of any tests, where it failed, and no lint or build may have in its place."""
    known = record.commands
    runs = [key for key, one in known.items() if one.kind == "test" and one.ok is not None]
    last = max(runs, key=lambda key: known[key].op, default="")
    return [one for one in failing if one.command == last and " && " not in last]


def _failed(failure: Failure) -> str:
    said = failure.lines[0] if failure.lines else "failed"
    return f"`{flat(failure.command, 120)}` last failed: {flat(said, 140)}"


def _is_open(task: Task) -> str:
    what = "task" if task.source in ("task", "todo") else "planned step"
    return f"the {what} is {task.status.replace('_', ' ')}: {flat(task.text, 140)}"


def _covers(told: set[str], words: set[str]) -> bool:
    """It holds the telling words of the task; what is done was not called by its verb."""
    shared = len(words & told)
    return len(words) > 1 and shared >= (len(words) if len(words) < 4 else ENOUGH * len(words))


def _telling(text: str) -> set[str]:
    plain = "".join(mark if mark.isalnum() or mark in "_./-" else " " for mark in text.lower())
    return {word.strip("./-") for word in plain.split() if len(word.strip("./-")) > 3}
