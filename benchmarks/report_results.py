"""What `make report` has measured so far: a file beside the page, to which a later run can add."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.growth import Curve
from benchmarks.run import Row

ROOT = Path(__file__).resolve().parents[1]


class Taken(NamedTuple):
    """One section in one run."""

    rows: list[Row]
    seconds: float
    load: float  # of the machine, when it began
    commit: str
    command: str

    def is_empty(self) -> bool:
        """Whether nothing could be measured, for want of data or of a program."""
        return all("not measured" in figure.lower() for _, figure, _ in self.rows)


@dataclass
class Results:
    """Every run of each section and of each group of curves, by its name."""

    sections: dict[str, list[Taken]] = field(default_factory=dict)
    growth: dict[str, list[list[Curve]]] = field(default_factory=dict)

    def add(self, name: str, taken: Taken) -> None:
        """Another run of a section. It replaces runs in which nothing was measured."""
        before = [one for one in self.sections.get(name, []) if not one.is_empty()]
        self.sections[name] = [*before, taken]

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


def _taken(rows: list[list[str]], *others: Any) -> Taken:
    return Taken([(name, figure, wanted) for name, figure, wanted in rows], *others)


def this_commit() -> str:
    line = ["git", "describe", "--always", "--dirty"]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"
