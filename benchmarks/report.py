"""`make report`: every figure on one page, with its command, the machine and its spread.

    python -m benchmarks.report --runs 5 --output build/report.html
    python -m benchmarks.report --runs 5 --short                  # without the long sections
    python -m benchmarks.report --runs 1 --only search --add      # one of these, on the same page
    python -m benchmarks.report --runs 1 --only hooks --short     # a quick look

Each section of `benchmarks.run` is measured in a process of its own, all sections once before any
of them again, so that a slow hour of the machine shows as spread and not as one bad section. What
cannot be measured is on the page too, with the reason, and so is what was left out. The page is
written after every section, and the results beside it as JSON: whoever stops it early has what was
measured so far, and `--add` goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import report_results
from benchmarks.growth import MEASURES, Curve
from benchmarks.report_page import Measured, Page, write_page
from benchmarks.report_results import Results, Taken
from benchmarks.run import SECTIONS, Data, Row, add_data_options, data_of
from benchmarks.spread import merge_rows

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S, GRACE_S = 3_600, 60


class Plan(NamedTuple):
    """What to measure."""

    runs: int
    sections: list[str]
    growth: list[str]
    is_short: bool
    options: list[str]  # the user's data, as `benchmarks.run` takes it


class Outcome(NamedTuple):
    """The last line of a process as JSON, or why there is none."""

    value: Any = None
    trouble: str = ""


def main() -> None:
    given = parser().parse_args()
    plan, kept = plan_of(given), given.output.with_suffix(".json")
    given.output.parent.mkdir(parents=True, exist_ok=True)
    results = report_results.read(kept) if given.add else Results()
    for number in range(1, plan.runs + 1):
        for name in due(plan.sections, number):
            print(f"run {number} of {plan.runs}: {SECTIONS[name].title}", flush=True)
            results.add(name, _take(name, plan))
            _write(results, plan, given.output)
        for name in plan.growth:
            print(f"run {number} of {plan.runs}: growth, {name}", flush=True)
            results.growth.setdefault(name, []).append(_curves(name, plan))
            _write(results, plan, given.output)
    print(f"written: {given.output}")


def _write(results: Results, plan: Plan, output: Path) -> None:
    results.write(output.with_suffix(".json"))
    curves = [curve for runs in results.growth.values() for run in runs for curve in run]
    left_out = [
        (section.title, _command(name, plan))
        for name, section in SECTIONS.items()
        if name not in results.sections
    ]
    measured = _measured(results)
    write_page(output, Page(measured, curves, left_out, _growth_command(plan), results.commits()))


def plan_of(given: argparse.Namespace) -> Plan:
    """The sections that were asked for, or all; the short form leaves out the long ones of all."""
    every = [name for name, one in SECTIONS.items() if not (given.short and one.is_long)]
    curves = list(MEASURES) if not given.only else []
    return Plan(
        given.runs,
        given.only or every,
        curves if given.growth is None else given.growth,
        given.short,
        options_of(data_of(given)),
    )


def due(sections: list[str], number: int) -> list[str]:
    """Those of a run. What nothing random enters is measured in the first run alone."""
    return [name for name in sections if number == 1 or not SECTIONS[name].is_fixed]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    add_data_options(made)
    made.add_argument("--runs", type=int, default=5, help="how often everything is measured")
    made.add_argument("--only", action="append", choices=SECTIONS, help="only these sections")
    made.add_argument("--growth", nargs="*", choices=MEASURES, help="only these curves, or none")
    made.add_argument(
        "--short", action="store_true", help="without the long sections, and curves of small sizes"
    )
    made.add_argument("--add", action="store_true", help="keep what was measured before")
    made.add_argument("--output", type=Path, default=ROOT / "build" / "report.html")
    return made


def options_of(data: Data) -> list[str]:
    """The same data as options of a command."""
    found = []
    for name, value in data._asdict().items():
        if value is True:
            found.append(f"--{name}")
        elif value:
            found += [f"--{name}", str(value)]
    return found


def _measured(results: Results) -> list[Measured]:
    """In the order of the sections, whenever they were measured."""
    return [
        Measured(
            name,
            section.title,
            section.about,
            results.sections[name][-1].command,
            merge_rows([one.rows for one in results.sections[name]]),
            [one.seconds for one in results.sections[name]],
            [one.load for one in results.sections[name]],
            section.is_fixed,
        )
        for name, section in SECTIONS.items()
        if name in results.sections
    ]


def _command(name: str, plan: Plan) -> str:
    options = " ".join(_shown(one) for one in plan.options)
    return f".venv/bin/python -m benchmarks.run --only {name} {options}".strip()


def _growth_command(plan: Plan) -> str:
    return ".venv/bin/python -m benchmarks.growth" + (" --short" if plan.is_short else "")


def _shown(option: str) -> str:
    """A folder of the user's is named by its last part only."""
    return Path(option).name if os.sep in option else option


def _take(name: str, plan: Plan) -> Taken:
    load, began = os.getloadavg()[0], time.monotonic()
    rows = _rows(name, plan)
    seconds = time.monotonic() - began
    return Taken(rows, seconds, load, report_results.this_commit(), _command(name, plan))


def _rows(name: str, plan: Plan) -> list[Row]:
    line = ["-m", "benchmarks.run", "--json", "--only", name, *plan.options]
    found = run_json(line)
    if found.trouble:
        return [(SECTIONS[name].title, f"not measured: {found.trouble}", "")]
    return [(str(one), str(figure), str(wanted)) for one, figure, wanted in found.value]


def _curves(name: str, plan: Plan) -> list[Curve]:
    short = ["--short"] if plan.is_short else []
    found = run_json(["-m", "benchmarks.growth", "--json", "--only", name, *short])
    if found.trouble:
        return [Curve(name, f"not measured: {found.trouble}", "", "", (), ())]
    return [Curve(*one) for one in found.value]


def run_json(arguments: list[str], limit_s: float = LIMIT_S) -> Outcome:
    """Run Python with these arguments; interrupted at its limit, so that its servers end too."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        _end(process)
        return Outcome(trouble=f"not done after {limit_s:.0f} s")
    except KeyboardInterrupt:
        _end(process)
        raise
    if process.returncode:
        return Outcome(trouble=f"exit {process.returncode}: {_last_line(errors)}")
    return Outcome(json.loads(_last_line(printed)))


def _end(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1]


if __name__ == "__main__":
    main()
