"""The figures of the endurance sessions, as rows: measure, figure, what to reach."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from tests.codex.real import newest_codex
from tests.trial.namespace import NamespaceImpossible

from benchmarks.endurance.facts import CORE, HERE, KINDS
from benchmarks.endurance.measure import SIDES, Course, Result, measure
from benchmarks.endurance.score import Seen
from benchmarks.wait import newest_client

Row = tuple[str, str, str]
Count = tuple[int, int]  # how many, of how many

SEEDS = (1, 2, 3)
AGES = {"0": (0, 0), "1": (1, 1), "2–3": (2, 3), "4–6": (4, 6), "7–9": (7, 9)}  # noqa: RUF001


def rows(
    seeds: Sequence[int] = SEEDS,
    *,
    windows: int = 10,
    sides: Sequence[str] = SIDES,
    keep: Path | None = None,
    jobs: int = 1,
    facts: Path = HERE,
    is_codex: bool = False,
) -> Iterator[Row]:
    """Play the sessions and tell their figures, or, loudly, why there are none."""
    binary = newest_codex() if is_codex else newest_client()
    if binary is None:
        yield "endurance", "*** NOT MEASURED: the real client is not here (make client) ***", ""
        return
    try:
        course = Course(windows, facts=facts, is_codex=is_codex)
        results = measure(binary, seeds, windows=course, sides=sides, keep=keep, jobs=jobs)
    except NamespaceImpossible as reason:
        yield "endurance", f"*** NOT MEASURED: no network namespace here: {reason} ***", ""
        return
    yield from _kept_rows(results)
    yield from _open_rows(results)
    for side in sides:
        took = [result.seconds for result in results if result.side == side]
        faults = sum(len(result.faults) for result in results if result.side == side)
        longest = f"{max(took):.0f} s, {faults} hook faults"
        yield f"longest session, {side}", longest, "0 faults" if side == SIDES[0] else ""


def _kept_rows(results: Sequence[Result]) -> Iterator[Row]:
    def row(name: str, wanted: str, chosen: Callable[[Seen], bool], within: int = 3) -> Row:
        def count(result: Result) -> Count:
            seen = [one for one in result.seen if chosen(one)]
            return sum(0 < one.request <= within for one in seen), len(seen)

        return name, _beside(results, count), wanted

    core = "rules, corrections, open errors, tasks, plan steps, step in flight"
    yield row(f"{core}: kept at any age", "≥ 95 %", lambda one: one.fact.kind in CORE)
    yield row("all kinds: kept since the last compaction", "≥ 95 %", lambda one: one.age == 0)
    yield row("all kinds: kept at any age", "≥ 85 %", lambda one: True)
    yield row("the first row, within two requests", "", lambda one: one.fact.kind in CORE, within=2)
    yield row("all kinds, at any age, within two requests", "", lambda one: True, within=2)
    yield row("all kinds, at any age, in the first request", "", lambda one: True, within=1)
    ages = " / ".join(AGES)
    yield f"the first row, {ages} compactions old", _by_age(results, CORE), ""
    yield f"all kinds, {ages} compactions old", _by_age(results, KINDS.values()), ""
    for kind in dict.fromkeys(KINDS.values()):
        yield row(f"{kind}, at any age", "", _of_kind(kind))


def _open_rows(results: Sequence[Result]) -> Iterator[Row]:
    def falsely(result: Result) -> Count:
        return sum(bool(one.line) for one in result.shown), len(result.shown)

    yield "over, but shown as open", _beside(results, falsely), "≤ 2 %"


def _by_age(results: Sequence[Result], kinds: Collection[str]) -> str:
    told = []
    for side in dict.fromkeys(result.side for result in results):
        seen = [one for result in results if result.side == side for one in result.seen]
        seen = [one for one in seen if one.fact.kind in kinds]
        shares = []
        for least, most in AGES.values():
            aged = [one.kept for one in seen if least <= one.age <= most]
            shares.append(f"{100 * sum(aged) / len(aged):.0f}" if aged else "none")
        told.append(f"{side} {' / '.join(shares)} %")
    return "; ".join(told)


def _of_kind(kind: str) -> Callable[[Seen], bool]:
    return lambda one: one.fact.kind == kind


def _beside(results: Sequence[Result], count: Callable[[Result], Count]) -> str:
    """Each side's figure, with those of the seeds behind it."""
    told = []
    for side in dict.fromkeys(result.side for result in results):
        counts = [count(result) for result in results if result.side == side]
        counts = [one for one in counts if one[1]]
        if counts:
            told.append(f"{side} {_percent(counts)}")
    return "; ".join(told) or "none"


def _percent(counts: Sequence[Count]) -> str:
    whole = f"{_share(counts):.1f} % of {sum(of for _, of in counts):,}"
    each = ", ".join(f"{_share([one]):.0f}" for one in counts)
    return f"{whole} ({each})" if len(counts) > 1 else whole


def _share(counts: Sequence[Count]) -> float:
    return 100 * sum(some for some, _ in counts) / sum(of for _, of in counts)
