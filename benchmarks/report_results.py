"""What `make report` has measured so far: a file beside the page, to which a later run can add."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.growth import Curve
from benchmarks.run import Row

ROOT = Path(__file__).resolve().parents[1]


class Taken(NamedTuple):
    """One section in one run."""

    rows: list[Row]
    seconds: float
    load: float  # of the machine, when it began
    commit: str


@dataclass
class Results:
    """Every run of each section and of each group of curves, by its name."""

    sections: dict[str, list[Taken]] = field(default_factory=dict)
    growth: dict[str, list[list[Curve]]] = field(default_factory=dict)

    def commits(self) -> list[str]:
        return list(dict.fromkeys(one.commit for runs in self.sections.values() for one in runs))

    def write(self, path: Path) -> None:
        text = json.dumps({"sections": self.sections, "growth": self.growth}, indent=1)
        path.write_text(text, encoding="utf-8")


def read(path: Path) -> Results:
    """What the file holds, or nothing measured yet."""
    if not path.exists():
        return Results()
    told = json.loads(path.read_text("utf-8"))
    sections = {name: [_taken(*one) for one in runs] for name, runs in told["sections"].items()}
    growth = {
        name: [[Curve(*one) for one in run] for run in runs]
        for name, runs in told["growth"].items()
    }
    return Results(sections, growth)


def _taken(rows: list[list[str]], seconds: float, load: float, commit: str) -> Taken:
    return Taken([(name, figure, wanted) for name, figure, wanted in rows], seconds, load, commit)


def this_commit() -> str:
    line = ["git", "describe", "--always", "--dirty"]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"
