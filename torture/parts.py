"""One process of a campaign: places of one engine, one after another, until it is over."""

from __future__ import annotations

import argparse
import signal
import time
import traceback
from contextlib import ExitStack
from dataclasses import dataclass

from torture.campaign import CALLS, MIXED, RANDOM, Tally, torture_place
from torture.databases import POSTGRES, NoPostgres, PostgresServer, a_postgres


@dataclass(frozen=True, slots=True)
class Part:
    """What one process does: every so many-th place of one engine."""

    engine: str
    number: int
    given: argparse.Namespace


def torture_part(part: Part) -> tuple[Tally, list[str]]:
    """In a process of its own: places until the time is over; and, in words, what broke."""
    tally = Tally()
    broken: list[str] = []
    with ExitStack() as stack:
        try:
            postgres = stack.enter_context(a_postgres()) if part.engine == POSTGRES else None
        except NoPostgres as error:
            print(f"*** NOT TESTED: PostgreSQL cannot be had here: {error} ***")
            return tally, broken
        for sig in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sig, _interrupt)
        try:
            _torture_places(part, postgres, tally, broken)
        except KeyboardInterrupt:
            broken.append("ended by a signal")
        for sig in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sig, signal.SIG_IGN)
    return tally, broken


def _torture_places(
    part: Part, postgres: PostgresServer | None, tally: Tally, broken: list[str]
) -> None:
    given, engine = part.given, part.engine
    end = time.monotonic() + given.seconds

    def over() -> bool:
        left = given.random / given.jobs - tally.random, given.calls / given.jobs - tally.calls_hit
        return time.monotonic() >= end or (bool(given.random or given.calls) and max(left) <= 0)

    for number in range(given.first + part.number, given.first + given.places, given.jobs):
        if over():
            return
        shares = shares_of(given, tally)
        try:
            torture_place(
                f"{given.seed}:{engine}:{number}",
                tally,
                over,
                postgres=postgres,
                number=number,
                rounds=given.rounds,
                shares=shares,
                keep=given.keep,
            )
            print(f"{engine}, place {number}: {tally.all_faults:,} faults so far")
        except Exception:
            again = f"--seed {given.seed} --engine {engine} --first {number} --places 1"
            again += f" --shares {shares}"
            broken.append(f"{traceback.format_exc()}\nplay it again: python -m torture {again}")
            print(broken[-1])


def shares_of(given: argparse.Namespace, tally: Tally) -> str:
    """What the next place is for: if enough faults of one kind were met, only the other kind. That
    is decided before a place begins, so that it can be played again."""
    if given.shares or not (given.random and given.calls):
        return given.shares or MIXED
    if tally.random >= given.random / given.jobs:
        return CALLS
    return RANDOM if tally.calls_hit >= given.calls / given.jobs else MIXED


def _interrupt(*_: object) -> None:
    """End what was started, and tell what is known so far."""
    raise KeyboardInterrupt
