"""`python -m benchmarks.endurance`: print the figures, by default of seeds 1 to 3."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.endurance.figures import SEEDS, rows
from benchmarks.endurance.measure import SIDES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.endurance")
    parser.add_argument("--seed", type=int, action="append", help="one seed; may be repeated")
    parser.add_argument("--windows", type=int, default=10, help="how many compactions")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--client-alone", action="store_true", help="only the client alone")
    only.add_argument("--holdfast-only", action="store_true", help="without the client alone")
    parser.add_argument("--no-lies", action="store_true", help="leave out the lying summaries")
    parser.add_argument("--keep", type=Path, help="write every request body and every miss there")
    parser.add_argument("--jobs", type=int, default=1, help="sessions at a time")
    given = parser.parse_args()
    sides = SIDES[:1] if given.holdfast_only else SIDES[1:] if given.client_alone else SIDES
    print("| measure | figure | to reach |\n|---|---|---|", flush=True)
    for name, figure, wanted in rows(
        given.seed or SEEDS,
        windows=given.windows,
        sides=sides,
        lies=not given.no_lies,
        keep=given.keep,
        jobs=given.jobs,
    ):
        print(f"| {name} | {figure} | {wanted} |", flush=True)


if __name__ == "__main__":
    main()
