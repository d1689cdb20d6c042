"""What the scripted summariser gives: poor summaries, and ones that call open work done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.endurance.facts import Fact
from benchmarks.endurance.failures import command_of

LIES = 2  # for each compaction: 20 in a session of ten windows
_POOR = (
    "The user works on a harbour monitoring project and asked for a number of changes.",
    "Several files were read and edited, and a few commands were run along the way.",
    "Work continued on various parts of the project in line with earlier requests.",
)
_OF_ERRORS = (
    "`{command}` failed earlier; this was fixed, and it passes now.",
    "All tests pass now, `{command}` included.",
    "Fixed {name}; everything is green.",
    "The problem with `{command}` has been resolved and verified.",
)
_OF_WORK = (
    "The task “{work}” has been completed.",
    "Finished: {work}.",
    "{work}: implemented and verified, nothing left to do there.",
    "Pending tasks: none, since “{work}” is done as well.",
)


@dataclass(frozen=True)
class Lie:
    """A sentence of the summary written at a compaction, about something that is open then."""

    compaction: int
    fact: Fact
    says: str


def lies_for(facts: Sequence[Fact], windows: int, seed: int) -> list[Lie]:
    """About errors, tasks and plan steps that are open at that compaction, each at most once.

    Where a window has too few, the next ones tell more."""
    random = Random(f"lies {seed}")
    told: list[Lie] = []
    for compaction in range(1, windows + 1):
        open_now = [fact for fact in facts if _can_be_called_done(fact, compaction)]
        left = [fact for fact in open_now if fact not in [lie.fact for lie in told]]
        wanted = min(len(left), LIES * compaction - len(told))
        for fact in random.sample(left, wanted):
            told.append(Lie(compaction, fact, _claim(fact, len(told))))
    return told


def summary(compaction: int, lies: Sequence[Lie]) -> str:
    """In the form that the client asks for."""
    claims = [lie.says for lie in lies if lie.compaction == compaction]
    return "\n".join(
        (
            "<analysis>Going through the conversation in order.</analysis>",
            "<summary>",
            f"1. Primary Request and Intent: {_POOR[0]}",
            f"2. Problem Solving: {_POOR[1]}",
            *(f"   - {claim}" for claim in claims),
            f"3. Current Work: {_POOR[2]}",
            "</summary>",
        )
    )


def _can_be_called_done(fact: Fact, compaction: int) -> bool:
    kinds = ("open errors", "tasks", "plan steps")
    return fact.kind in kinds and fact.is_true_at(compaction)


def names_of(fact: Fact) -> tuple[str, ...]:
    """What a text must hold, one of them, to be about this error, task or step."""
    if fact.pool == "failure":
        return (command_of(fact.about), fact.about["keys"][0])
    return fact.keys[:1]


def _claim(fact: Fact, number: int) -> str:
    """The wordings take turns."""
    if fact.pool == "failure":
        ways = _OF_ERRORS
        return ways[number % len(ways)].format(
            command=command_of(fact.about), name=fact.about["keys"][0]
        )
    work = str(fact.about[{"task": "subject", "plan": "step", "asked_task": "says"}[fact.pool]])
    return _OF_WORK[number % len(_OF_WORK)].format(work=work.rstrip("."))
