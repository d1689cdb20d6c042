"""The figures of one long session: compactions of both kinds, a crash, an upgrade, and a return.

The client is played twice through the same story, with Holdfast and alone. Holdfast is uninstalled
at the end, and then both homes must hold the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.trial.namespace import NamespaceImpossible

from benchmarks.endurance.figures import Row
from benchmarks.endurance.measure import SIDES, Course, Result, long_course, measure
from benchmarks.wait import newest_client

LONG = 20
STEP_SECONDS = 35  # of a person's session: 240 minutes are 410 steps
MUST_BE_KEPT = {
    "standing rules and corrections": ("rules", "corrections"),
    "the current task: the step in flight": ("step in flight",),
    "tasks and plan steps": ("tasks", "plan steps"),
    "open errors": ("open errors",),
    "exact commands": ("commands",),
}


def long_rows(seed: int, windows: int, *, keep: Path | None, jobs: int) -> Iterator[Row]:
    """Play it and tell its figures, or, loudly, why there are none."""
    binary, course = newest_client(), long_course(windows)
    if binary is None:
        yield "long session", "*** NOT MEASURED: the real client is not here (make client) ***", ""
        return
    try:
        ours, alone = measure(binary, [seed], windows=course, keep=keep, jobs=jobs)
    except NamespaceImpossible as reason:
        yield "long session", f"*** NOT MEASURED: no network namespace here: {reason} ***", ""
        return
    yield from _course_rows(ours, course)
    for words, kinds in MUST_BE_KEPT.items():
        yield words, f"{_kept(ours, kinds)}; {SIDES[1]} {_kept(alone, kinds)}", "all"
    yield from _cost_rows(ours, alone)
    different = differences(ours, alone)
    yield "files of HOME that differ after `uninstall`", ", ".join(different) or "0", "0"


def _course_rows(ours: Result, course: Course) -> Iterator[Row]:
    by_hand = len(course.closed_by_hand)
    kinds = f"{course.windows - by_hand} automatic, {by_hand} by hand"
    yield "compactions in one session", f"{course.windows}: {kinds}", ""
    what = f"killed and resumed {ours.lives - 1} times, upgraded in window "
    yield "what else happened", f"{what}{course.incidents.upgrade}", ""
    hours = ours.steps * STEP_SECONDS / 3600
    steps = f"{ours.steps:,}, and {ours.agent_steps} of subagents"
    yield "steps of the model", f"{steps}: {hours:.1f} h at {STEP_SECONDS} s each", "4 h"
    yield "checkpoints that nobody asked for", f"{ours.checkpoints}", "1 for each compaction"


def _cost_rows(ours: Result, alone: Result) -> Iterator[Row]:
    tokens = sorted(ours.injected)
    figure = f"{tokens[0]:,} to {tokens[-1]:,}, in the middle {tokens[len(tokens) // 2]:,}"
    yield "tokens that hooks added after a compaction", figure, ""
    yield "hook errors", f"{len(ours.faults)}", "0"
    yield "seconds", f"{ours.seconds:,.0f}; {SIDES[1]} {alone.seconds:,.0f}", ""


def _kept(result: Result, kinds: Sequence[str]) -> str:
    seen = [one for one in result.seen if one.fact.kind in kinds]
    return f"{sum(one.kept for one in seen):,} of {len(seen):,}"


def differences(ours: Result, alone: Result) -> list[str]:
    """The files that are in one home alone, or hold something else there."""
    names = {*ours.home, *alone.home}
    return sorted(name for name in names if ours.home.get(name) != alone.home.get(name))
