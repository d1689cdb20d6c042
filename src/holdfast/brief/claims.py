"""What a summary calls done although the transcript says otherwise, with the evidence.

A false alarm costs more than a miss: a claim must name the very command, test or task, or speak of
all tests where the last run of any has failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.brief import asserted
from holdfast.brief.fence import flat
from holdfast.brief.item import Claim
from holdfast.checkpoint.facts import Facts, Failure, Task

ENOUGH = 0.75  # of the telling words of a task, of more than three
_LISTED = ("task", "todo")  # nobody ticks off the steps of a plan
_TEST = re.compile(r"\b(?:test_\w+|Test[A-Z_]\w+)\b(?!\.\w)")
_ALL_TESTS = re.compile(
    r"(?:^|[(:✅,\u2013\u2014-] ?|\b(?:all|every|the|our|full|whole|entire|and|\d+) )"
    r"tests?(?: suite)?[: ]+(?:(?:are|is|now|all|both|still|currently|again|have|has) )*"
    r"(?:pass|passes|passed|passing|green|succeeds?|succeeded)\b"
    r"(?! (?:in|for|on|with|under|of|individually|alone)\b)"
)
_TOLD_OF_TEST = re.compile(r"\b(?:pass(?:es|ed|ing)?|fixed|resolved|green|works)\b")
_THEN_PASSES = re.compile(
    r"[`'\" :,\u2013\u2014-]*"
    r"(?:(?:now|is|are|all|also|finally|again|has|command|run|runs|tests?) )*"
    r"(?:pass|passes|passed|passing|green|succeeds|succeeded|works|fixed)\b"
)


def contradicted(facts: Facts, summary: str) -> list[Claim]:
    """Sentences that call an open failure or an open task done."""
    found: list[Claim] = []
    failing = [one for one in facts.failures if one.fixed is None]
    listed = [one for one in facts.tasks.values() if one.is_open and one.source in _LISTED]
    for clause in asserted.clauses(summary):
        passing, done = asserted.calls_passing(clause), asserted.calls_done(clause)
        if passing or done:
            broken = [one for one in failing if _names(clause, one)]
            if not broken and passing and _speaks_of_all(clause):
                broken = _last_test_run(facts, failing)
            found += [Claim(clause, _failed(one), one.place) for one in broken]
        if done:
            found += [Claim(clause, _is_open(t), t.place) for t in listed if _tells_of(clause, t)]
    return list({(claim.sentence, claim.evidence): claim for claim in found}.values())


def _names(clause: str, failure: Failure) -> bool:
    """It names the command and says that it passes, or names a test that failed in it."""
    low = clause.lower()
    for after in _after(low, failure.command.lower()):
        if _THEN_PASSES.match(after):
            return True
    told = _TOLD_OF_TEST.search(asserted.plain(clause))
    return bool(told) and not _tests_of(failure).isdisjoint(_TEST.findall(clause))


def _after(text: str, command: str) -> Iterator[str]:
    """What follows the command wherever it stands alone."""
    at = text.find(command) if len(command) > 3 else -1
    while at >= 0:
        if not text[at - 1 : at].isalnum():
            yield text[at + len(command) :]
        at = text.find(command, at + 1)


def _tests_of(failure: Failure) -> set[str]:
    return {name for line in failure.lines if "FAIL" in line for name in _TEST.findall(line)}


def _speaks_of_all(clause: str) -> bool:
    return bool(_ALL_TESTS.search(asserted.plain(clause)))


def _last_test_run(facts: Facts, failing: list[Failure]) -> list[Failure]:
    """The last run of any tests, where it failed, and no lint or build may have in its place."""
    runs = [key for key, one in facts.commands.items() if one.kind == "test" and one.ok is not None]
    last = max(runs, key=lambda key: facts.commands[key].op, default="")
    return [one for one in failing if one.command == last and " && " not in last]


def _failed(failure: Failure) -> str:
    said = failure.lines[0] if failure.lines else "failed"
    return f"`{flat(failure.command, 120)}` last failed: {flat(said, 140)}"


def _is_open(task: Task) -> str:
    return f"the task is {task.status.replace('_', ' ')}: {flat(task.text, 140)}"


def _tells_of(clause: str, task: Task) -> bool:
    """It holds the telling words of the task; what is done was not called by its verb."""
    words = _telling(task.text.partition(" ")[2])
    shared = len(words & _telling(clause))
    return len(words) > 1 and shared >= (len(words) if len(words) < 4 else ENOUGH * len(words))


def _telling(text: str) -> set[str]:
    plain = "".join(mark if mark.isalnum() or mark in "_./-" else " " for mark in text.lower())
    return {word.strip("./-") for word in plain.split() if len(word.strip("./-")) > 3}
