"""`python -m torture`: for some seconds on each engine, or for a number of places."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
import traceback
from contextlib import ExitStack
from pathlib import Path

from torture import injection
from torture.campaign import KINDS, ROUNDS, Tally, torture_place
from torture.databases import POSTGRES, SQLITE, NoPostgres, PostgresServer, a_postgres
from torture.place import may_mount, own_namespace

MOST_PLACES = 1_000_000


def main() -> int:
    given = _arguments()
    own_namespace()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, _interrupt)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print(f"seed {given.seed}")
    _report_what_is_missing()
    tallies: dict[str, Tally] = {}
    broken = ""
    with ExitStack() as stack:
        for engine in given.engine or (SQLITE, POSTGRES):
            try:
                postgres = stack.enter_context(a_postgres()) if engine == POSTGRES else None
            except NoPostgres as error:
                print(f"*** NOT TESTED: PostgreSQL cannot be had here: {error} ***")
                continue
            tallies[engine] = Tally()
            broken = _torture(engine, given, tallies[engine], postgres)
            if broken:
                break
    _print_table(tallies)
    print(broken or "no promise was broken")
    return 1 if broken else 0


def _interrupt(*_: object) -> None:
    """End what was started, and print what is known so far."""
    raise KeyboardInterrupt


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="on both engines together")
    parser.add_argument("--places", type=int, default=MOST_PLACES, help="at most so many, each")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of one place")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--engine", action="append", choices=(SQLITE, POSTGRES))
    parser.add_argument("--first", type=int, default=0, help="begin at the place of this number")
    parser.add_argument("--keep", type=Path, help="copy the place in which a promise broke to here")
    return parser.parse_args()


def _report_what_is_missing() -> None:
    if not injection.strace():
        print("*** NOT TESTED: faults at single system calls need strace, which is not here ***")
    if not may_mount():
        print("*** NOT TESTED: full and read-only disks need the right to mount ***")


def _torture(
    engine: str, given: argparse.Namespace, tally: Tally, postgres: PostgresServer | None
) -> str:
    """Places until the time is over; in words, what broke."""
    share = given.seconds / len(given.engine or (SQLITE, POSTGRES))
    end = time.monotonic() + share
    for number in range(given.first, given.first + given.places):
        if time.monotonic() >= end:
            break
        try:
            torture_place(
                f"{given.seed}:{engine}:{number}",
                tally,
                lambda: time.monotonic() >= end,
                postgres=postgres,
                number=number,
                rounds=given.rounds,
                keep=given.keep,
            )
            print(f"{engine}, place {number}: {tally.all_faults:,} faults so far")
        except KeyboardInterrupt:
            return "ended by a signal"
        except Exception:
            again = f"--seed {given.seed} --engine {engine} --first {number} --places 1"
            return f"{traceback.format_exc()}\nplay it again: python -m torture {again}"
    return ""


def _print_table(tallies: dict[str, Tally]) -> None:
    lines = [["faults", *tallies]]
    lines += [[kind, *(f"{one.faults[kind]:,}" for one in tallies.values())] for kind in KINDS]
    lines.append(["all but refused requests", *(f"{one.all_faults:,}" for one in tallies.values())])
    lines.append(["rounds, each followed by checks", *_each(tallies, "rounds")])
    lines.append(["tool calls, all there once", *_each(tallies, "calls")])
    lines.append(["messages, none given to the model twice", *_each(tallies, "messages")])
    lines.append(["of these given up: three hooks died saying them", *_each(tallies, "given_up")])
    points = (f"{len(one.hit_points):,} of {len(one.known_points):,}" for one in tallies.values())
    lines.append(["system calls hit, of those known", *points])
    for number, line in enumerate(lines):
        print(f"| {' | '.join(line)} |")
        if number == 0:
            print("|" + "---|" * len(line))


def _each(tallies: dict[str, Tally], name: str) -> list[str]:
    return [f"{getattr(one, name):,}" for one in tallies.values()]


if __name__ == "__main__":
    if os.environ.get("PYTHONPATH"):
        del os.environ["PYTHONPATH"]
    sys.exit(main())
