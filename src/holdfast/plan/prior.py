"""What a request uses where nothing is known of the past: a rule of thumb, put right.

The rule (`Words.formula_tokens`) alone is off by a factor of 2.8 (median) on real sessions. Its
logarithm is one of a few terms of a line fitted to 909 requests of 161 public sessions. Where the
files to be touched are known, as in a plan, their number says more than any word, and another line
is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Line:
    """`low` and `high`: a tenth of all requests lay below, a tenth above, in logarithms."""

    start: float
    terms: Mapping[str, float]
    low: float
    high: float

    def at(self, known: Mapping[str, float]) -> float:
        return self.start + sum(slope * known[name] for name, slope in self.terms.items())


NAMES: Final = ("chars", "formula", "question", "asks", "saves", "builds", "checks")

# Printed by `python -m benchmarks.estimates --corpus DIR --fit`.
WORDS: Final = Line(
    start=3.821,
    terms={
        "chars": 0.135,
        "formula": 0.511,
        "question": -0.351,
        "asks": -0.249,
        "saves": -0.247,
        "builds": 0.248,
        "checks": 0.309,
    },
    low=-1.898,
    high=1.665,
)
FILES: Final = Line(
    start=6.447,
    terms={
        "chars": -0.012,
        "formula": 0.237,
        "question": -0.055,
        "asks": -0.154,
        "saves": 0.259,
        "builds": 0.034,
        "checks": 0.166,
        "touched": 0.922,
    },
    low=-1.083,
    high=1.037,
)
