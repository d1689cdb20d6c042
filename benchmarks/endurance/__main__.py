"""`python -m benchmarks.endurance`: print the figures, by default of seeds 1 to 3."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.endurance.facts import HERE
from benchmarks.endurance.figures import SEEDS, rows
from benchmarks.endurance.long_session import LONG, long_rows
from benchmarks.endurance.measure import SIDES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.endurance")
    parser.add_argument("--seed", type=int, action="append", help="one seed; may be repeated")
    parser.add_argument("--windows", type=int, default=0, help="how many compactions")
    parser.add_argument(
        "--long",
        action="store_true",
        help="one session of 20 compactions, some by hand, with a crash and an upgrade; "
        "then uninstall, and compare the home with that of the client alone",
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--client-alone", action="store_true", help="only the client alone")
    only.add_argument("--holdfast-only", action="store_true", help="without the client alone")
    parser.add_argument("--keep", type=Path, help="write every request body and every miss there")
    parser.add_argument(
        "--facts", type=Path, default=HERE, help="a folder with another said.toml and happened.toml"
    )
    parser.add_argument("--codex", action="store_true", help="in the real Codex")
    parser.add_argument("--jobs", type=int, default=1, help="sessions at a time")
    given = parser.parse_args()
    sides = SIDES[:1] if given.holdfast_only else SIDES[1:] if given.client_alone else SIDES
    print("| measure | figure | to reach |\n|---|---|---|", flush=True)
    found = (
        long_rows(
            *((given.seed or SEEDS)[0], given.windows or LONG), keep=given.keep, jobs=given.jobs
        )
        if given.long
        else rows(
            given.seed or SEEDS,
            windows=given.windows or 10,
            sides=sides,
            keep=given.keep,
            jobs=given.jobs,
            facts=given.facts,
            is_codex=given.codex,
        )
    )
    for name, figure, wanted in found:
        print(f"| {name} | {figure} | {wanted} |", flush=True)


if __name__ == "__main__":
    main()
