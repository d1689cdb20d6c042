"""`python -m torture`: for some seconds, both engines at once, or for a number of places."""

from __future__ import annotations

import argparse
import compileall
import multiprocessing
import os
import random
import signal
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import holdfast
from torture import injection, table
from torture.campaign import ROUNDS, SHARES, Tally
from torture.clock import faketime
from torture.databases import POSTGRES, SQLITE
from torture.parts import Part, torture_part
from torture.place import may_mount, own_namespace

MOST_PLACES = 1_000_000


def main() -> int:
    given = _arguments()
    own_namespace()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print(f"seed {given.seed}")
    _report_what_is_missing()
    # A file size limit would leave a cut file behind where Python writes its bytecode.
    compileall.compile_dir(str(Path(holdfast.__file__).parent), quiet=2)
    started = time.monotonic()
    tallies, broken = _run_parts(given)
    lines = table.lines(tallies, given, time.monotonic() - started)
    print("\n".join(lines))
    if given.write and not broken:
        table.write(given.write, lines)
    print("\n".join(broken) or "no promise was broken")
    return 1 if broken else 0


def _run_parts(given: argparse.Namespace) -> tuple[dict[str, Tally], list[str]]:
    """All parts at once; one that is ended by a signal tells what it has done so far."""
    engines = given.engine or (SQLITE, POSTGRES)
    parts = [Part(engine, number, given) for engine in engines for number in range(given.jobs)]
    tallies, broken = {engine: Tally() for engine in engines}, []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(parts), mp_context=context) as pool:
        for sig in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sig, lambda *_: _end_all())
        going: list[tuple[Part, Future[tuple[Tally, list[str]]]]]
        going = [(part, pool.submit(torture_part, part)) for part in parts]
        for part, future in going:
            tally, wrong = future.result()
            tallies[part.engine].add(tally)
            broken += wrong
    return tallies, broken


def _end_all() -> None:
    for child in multiprocessing.active_children():
        if child.pid:
            os.kill(child.pid, signal.SIGTERM)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--places", type=int, default=MOST_PLACES, help="at most so many, each")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of one place")
    parser.add_argument("--random", type=int, default=0, help="end after so many random faults")
    parser.add_argument("--calls", type=int, default=0, help="and so many at single system calls")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--engine", action="append", choices=(SQLITE, POSTGRES))
    parser.add_argument("--jobs", type=int, default=1, help="places at a time, on each engine")
    parser.add_argument("--first", type=int, default=0, help="begin at the place of this number")
    parser.add_argument(
        "--shares", choices=sorted(SHARES), help="the kinds of faults in each place"
    )
    parser.add_argument("--keep", type=Path, help="copy the place in which a promise broke to here")
    parser.add_argument("--write", type=Path, help="put the table into this page, at its marks")
    return parser.parse_args()


def _report_what_is_missing() -> None:
    if not injection.strace():
        print("*** NOT TESTED: faults at single system calls need strace, which is not here ***")
    if not faketime():
        print("*** NOT TESTED: clocks that jump need libfaketime, which is not here ***")
    if not may_mount():
        print("*** NOT TESTED: full and read-only disks need the right to mount ***")


if __name__ == "__main__":
    if os.environ.get("PYTHONPATH"):
        del os.environ["PYTHONPATH"]
    sys.exit(main())
