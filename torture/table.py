"""The table of a campaign: what was done to each engine, and what came of it."""

from __future__ import annotations

import argparse
import os
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path

from torture.campaign import KINDS, Tally

BEGIN, END = "<!-- torture: written by `python -m torture --write` -->", "<!-- torture: end -->"
ROWS = {
    "of all these, met by `holdfast run`": "run_faults",
    "random faults, in all": "random",
    "faults at single system calls, in all": "calls_hit",
    "system calls hit, of those that change something": "points",
    "places, each from its installation to its end": "places",
    "rounds, each followed by the checks": "rounds",
    "tool calls, all there once": "calls",
    "events of the dashboard's stream, none twice": "events",
    "messages, none given to the model twice": "messages",
    "of these given up: three hooks died saying them": "given_up",
    "plans run to their end": "plans",
    "tasks of these plans, each recorded as done and really done": "tasks",
    "processes started from their command line, not forked": "command_lines",
}


def lines(tallies: Mapping[str, Tally], given: argparse.Namespace, seconds: float) -> list[str]:
    """The table in Markdown, with the command it came from."""
    return [*_rows(tallies), "", _origin(given, seconds)]


def _rows(tallies: Mapping[str, Tally]) -> Iterator[str]:
    yield f"| fault | {' | '.join(tallies)} |"
    yield "|---|" + "---|" * len(tallies)
    for kind in KINDS:
        yield _row(kind, [f"{one.faults[kind]:,}" for one in tallies.values()])
    for words, name in ROWS.items():
        yield _row(words, [_shown(getattr(one, name)) for one in tallies.values()])


def _row(words: str, figures: list[str]) -> str:
    return f"| {words} | {' | '.join(figures)} |"


def _shown(figure: object) -> str:
    return f"{figure:,}" if isinstance(figure, int) else str(figure)


def _origin(given: argparse.Namespace, seconds: float) -> str:
    words = {"rounds": given.rounds, "jobs": given.jobs, "seed": given.seed}
    command = " ".join(f"--{name} {value}" for name, value in words.items())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores, core_minutes = len(os.sched_getaffinity(0)), (used.ru_utime + used.ru_stime) / 60
    took = f"{seconds / 60:,.0f} minutes on {cores} cores, of which it used {core_minutes:,.0f}"
    return f"`python -m torture {command}`: {took} minutes of one core."


def write(page: Path, lines: list[str]) -> None:
    """Put the table between the two marks of the page."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for the table: {BEGIN}")
    page.write_text("\n".join((before + BEGIN, "", *lines, "", END + after)), encoding="utf-8")
