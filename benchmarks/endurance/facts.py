"""The facts of an endurance session: what is planted, when, and when it stops being true.

Which facts of the pools are used, in which of their wordings and in which window, is chosen by the
seed. A fact is planted once; `keys` are the phrases that show that a model still knows it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.endurance.failures import command_of

HERE = Path(__file__).resolve().parent

# How many of each pool a session of ten windows plants: about ten facts in a window.
PLANTED = {
    "rule": 15,
    "correction": 9,
    "asked_task": 3,
    "chosen": 3,
    "replied": 2,
    "queued": 4,
    "refused": 3,
    "slash": 3,
    "pointed": 3,
    "failure": 14,
    "task": 5,
    "plan": 3,
    "decision": 6,
    "found": 3,
    "written": 4,
    "ran": 4,
    "agent": 4,
}
# How many of them come to an end in a later window; of each plan the first step does.
ENDED = {"failure": 5, "task": 2, "asked_task": 1, "plan": 3}
FULL_SESSION = 10
OR = " || "  # in a key: either of them will do

KINDS = {
    "rule": "rules",
    "correction": "corrections",
    "failure": "open errors",
    "task": "tasks",
    "asked_task": "tasks",
    "plan": "plan steps",
    "in_flight": "step in flight",
    "chosen": "answers",
    "replied": "answers",
    "queued": "typed while it worked",
    "refused": "words of a refusal",
    "slash": "slash command arguments",
    "decision": "decisions",
    "pointed": "references",
    "found": "references",
    "written": "files",
    "ran": "commands",
    "agent": "subagents' results",
}
CORE = frozenset(("rules", "corrections", "open errors", "tasks", "plan steps", "step in flight"))


@dataclass(frozen=True)
class Fact:
    """One thing to know; `window` counts from 1, and `ends` is the window in which it is over."""

    pool: str
    number: int
    window: int
    keys: tuple[str, ...]
    about: Mapping[str, Any]
    ends: int | None = None

    @property
    def kind(self) -> str:
        return KINDS[self.pool]

    @property
    def name(self) -> str:
        return f"{self.pool}-{self.number}"

    def is_true_at(self, compaction: int) -> bool:
        """The compaction closes the window of its own number."""
        return self.window <= compaction and (self.ends is None or compaction < self.ends)

    def is_over_at(self, compaction: int) -> bool:
        return self.pool in ENDED and self.ends is not None and self.ends <= compaction


@cache
def pools(folder: Path = HERE) -> Mapping[str, Any]:
    """Both data files as one table."""
    tables = (tomllib.loads((folder / name).read_text()) for name in ("said.toml", "happened.toml"))
    return {name: pool for table in tables for name, pool in table.items()}


def choose(
    seed: int, windows: int, folder: Path = HERE, without: Collection[str] = ()
) -> list[Fact]:
    """The facts of one session, in no order within a window."""
    random, known = Random(seed), pools(folder)
    chosen: list[Fact] = []
    for pool, count in PLANTED.items():
        if pool in without:
            continue
        wanted = min(max(1, round(count * windows / FULL_SESSION)), len(known[pool]))
        ended = min(round(ENDED.get(pool, 0) * windows / FULL_SESSION), wanted)
        facts = list(_placed(random, pool, known[pool], wanted, windows))
        chosen += _with_ends(random, facts, ended, windows)
    chosen += _in_flight(random, known, windows)
    return [part for fact in chosen for part in _parts(fact)]


def _placed(
    random: Random, pool: str, known: Sequence[Any], count: int, windows: int
) -> Iterator[Fact]:
    """Spread over the windows: each fact somewhere in its own share of them."""
    for place, number in enumerate(random.sample(range(len(known)), count)):
        window = int((place + random.random()) * windows / count) + 1
        about = known[number]
        about = random.choice(about["way"]) if "way" in about else about
        yield Fact(pool, number, window, _keys(pool, about), about)


def _keys(pool: str, about: Mapping[str, Any]) -> tuple[str, ...]:
    """A failure is told by its message and by its place or its command."""
    keys = tuple(about.get("keys", ()))
    return (f"{keys[0]}{OR}{command_of(about)}", keys[1]) if pool == "failure" else keys


def _with_ends(random: Random, facts: list[Fact], count: int, windows: int) -> list[Fact]:
    """End some of those that were planted before the last window, one to three windows later."""
    able = [place for place, fact in enumerate(facts) if fact.window < windows]
    for place in random.sample(able, min(count, len(able))):
        last = min(windows, facts[place].window + 3)
        facts[place] = replace(facts[place], ends=random.randint(facts[place].window + 1, last))
    return facts


def _in_flight(random: Random, known: Mapping[str, Any], windows: int) -> Iterator[Fact]:
    """One for each window; after the next compaction it is a thing of the past."""
    pool = known["in_flight"]
    if windows > len(pool):
        pool = [*pool, *known["in_flight_more"]]
    for window, number in enumerate(random.sample(range(len(pool)), windows), start=1):
        about = pool[number]
        yield Fact("in_flight", number, window, tuple(about["keys"]), about, ends=window + 1)


def _parts(fact: Fact) -> Iterator[Fact]:
    """A plan is as many facts as it has steps; only the first of them comes to an end."""
    if fact.pool != "plan":
        yield fact
        return
    for place, step in enumerate(fact.about["steps"]):
        about = {**fact.about, "place": place, "step": step["says"]}
        ends = fact.ends if place == 0 else None
        number = fact.number * 10 + place
        yield replace(fact, number=number, keys=tuple(step["keys"]), about=about, ends=ends)


def of_window(facts: Sequence[Fact], window: int) -> list[Fact]:
    return [fact for fact in facts if fact.window == window]
