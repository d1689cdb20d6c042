"""What a request uses where nothing is known of the past: a rule of thumb, put right.

The rule (`Words.formula_tokens`) alone is off by a factor of 2.8 (median) on real sessions. Its
logarithm is one of a few terms of a line fitted to 2,084 requests of 285 public sessions. Where the
files to be touched are known, as in a plan, their number says more than any word, and another line
is used: of the requests that touched a file. Requests that name folders, and those of a kind that
their first words tell, have lines of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from holdfast.plan.estimates.features import COMMIT, IMPLEMENT, INVESTIGATE


@dataclass(frozen=True, slots=True)
class FittedLine:
    """A fitted line; a tenth of all requests lay below `low`, a tenth above `high` (logarithms)."""

    start: float
    terms: Mapping[str, float]
    low: float
    high: float

    def at(self, known: Mapping[str, float]) -> float:
        return self.start + sum(slope * known[name] for name, slope in self.terms.items())


NAMES: Final = ("chars", "formula", "question", "asks", "saves", "builds", "checks")

# Printed by `python -m benchmarks.estimates --corpus DIR --fit`.
WORDS: Final = FittedLine(
    start=5.072,
    terms={
        "chars": 0.172,
        "formula": 0.350,
        "question": -0.320,
        "asks": -0.364,
        "saves": -0.153,
        "builds": 0.441,
        "checks": 0.210,
    },
    low=-1.949,
    high=1.727,
)
FILES: Final = FittedLine(
    start=7.507,
    terms={
        "chars": 0.003,
        "formula": 0.107,
        "question": 0.005,
        "asks": -0.032,
        "saves": 0.142,
        "builds": 0.056,
        "checks": 0.120,
        "touched": 0.999,
    },
    low=-0.990,
    high=0.943,
)
FOLDERS: Final = FittedLine(start=9.378, terms={"named": 0.537}, low=-0.989, high=1.076)
KINDS: Final[Mapping[int, FittedLine]] = {  # of the others there were too few
    COMMIT: FittedLine(start=8.493, terms={}, low=-1.534, high=0.930),
    INVESTIGATE: FittedLine(start=9.816, terms={}, low=-2.470, high=1.637),
    IMPLEMENT: FittedLine(start=10.439, terms={}, low=-2.016, high=1.166),
}
