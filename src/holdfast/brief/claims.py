"""What a summary calls done although the transcript says otherwise, with the evidence."""

from __future__ import annotations

import msgspec

from holdfast.brief.fence import flat
from holdfast.checkpoint.facts import Facts, Place

_DONE = ("pass", "fixed", "resolved", "done", "complete", "works", "succe", "green", "finished")
_NOT = (
    " not ",
    "n't ",
    " still ",
    " fail",
    " remain",
    " pending",
    " todo",
    " to do",
    " next",
    " yet",
)
ENOUGH = 0.6  # of the telling words, for a sentence to speak of the same thing
MOST_SENTENCES = 2_000


class Claim(msgspec.Struct, frozen=True):
    """A sentence of the summary, and what speaks against it."""

    sentence: str
    evidence: str
    place: Place


def contradicted(facts: Facts, summary: str) -> list[Claim]:
    """Sentences that call an open failure or an open task done."""
    said = [one for one in _sentences(summary) if _calls_done(one)]
    found = []
    for failure in facts.failures:
        if failure.fixed is None:
            words = _telling(failure.command + " " + " ".join(failure.lines[:2]))
            evidence = (
                f"`{flat(failure.command, 120)}` last failed: {flat(_first(failure.lines), 140)}"
            )
            found += [Claim(one, evidence, failure.place) for one in said if _speaks_of(one, words)]
    for task in facts.tasks.values():
        if task.is_open:
            evidence = f"the task is {task.status}: {flat(task.text, 140)}"
            words = _telling(task.text)
            found += [Claim(one, evidence, task.place) for one in said if _speaks_of(one, words)]
    return list({(claim.sentence, claim.evidence): claim for claim in found}.values())


def _sentences(text: str) -> list[str]:
    parts = text.replace("\n", ". ").split(". ")
    return [flat(part, 300) for part in parts[:MOST_SENTENCES] if len(part.strip()) > 8]


def _calls_done(sentence: str) -> bool:
    low = f" {sentence.lower()} "
    return any(word in low for word in _DONE) and not any(word in low for word in _NOT)


def _speaks_of(sentence: str, words: set[str]) -> bool:
    if len(words) < 2:
        return False
    return len(words & _telling(sentence)) >= max(2, ENOUGH * min(len(words), 6))


def _telling(text: str) -> set[str]:
    plain = "".join(mark if mark.isalnum() or mark in "_./-" else " " for mark in text.lower())
    return {word.strip("./-") for word in plain.split() if len(word.strip("./-")) > 3}


def _first(lines: list[str]) -> str:
    return lines[0] if lines else "failed"
