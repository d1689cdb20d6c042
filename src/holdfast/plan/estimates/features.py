"""What a prompt or a task's description tells before any work is done: a few numbers, and the
estimate that they alone allow.

These numbers are kept of past requests; the words themselves are not. The rule of thumb
(`WordFeatures.formula_tokens`) alone is off by a factor of 2.8 (median) on real sessions. Its
logarithm is one of a few terms of a line fitted to 2,084 requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from holdfast.plan.kinds import (
    COMMIT,
    IMPLEMENT,
    INVESTIGATE,
    READ_CHARS,
    find_kind,
    is_a_search,
)
from holdfast.plan.named_paths import find_files

UNSTATED_FILES = 3  # assumed for a task that names no file
FILE_TOKENS = 2000
CHARS_PER_TOKEN = 4
MULTIPLIERS: Final = {"refactor": 2.0, "implement": 1.5, "fix": 1.0, "update": 0.8, "add": 1.2}

_ASKS = re.compile(r"\b(?:why|what|how|explain|where|which)\b")
_SAVES = re.compile(r"\b(?:commit|push)")
_BUILDS = re.compile(r"\b(?:implement|plan\b|refactor|creat|writ|build|design)")
_CHECKS = re.compile(r"\b(?:test|check|review|run|verify)")


@dataclass(frozen=True, slots=True)
class WordFeatures:
    """Features of a request's text. `multiplier` belongs to its strongest verb; `files` counts the
    files it names."""

    chars: int
    lines: int
    files: int
    multiplier: float
    question: bool
    asks: bool
    saves: bool
    builds: bool
    checks: bool
    kind: int = 0  # one of KINDS; 0: its words do not tell

    def formula_tokens(self, files: int | None = None) -> int:
        """A rule of thumb that `prior` corrects: (characters / 4 + files x 2,000) x multiplier."""
        count = self.files or UNSTATED_FILES if files is None else files
        return int((self.chars // CHARS_PER_TOKEN + count * FILE_TOKENS) * self.multiplier)


def extract_task_features(title: str, text: str) -> WordFeatures:
    """Features of a task of a plan. A question that is typed is often answered at once; as a task
    it is something to investigate."""
    found = extract_features(text)
    return found if found.kind or not is_a_search(title) else replace(found, kind=INVESTIGATE)


def extract_features(text: str) -> WordFeatures:
    said = text[:READ_CHARS].lower()
    found = [factor for word, factor in MULTIPLIERS.items() if word in said]
    return WordFeatures(
        chars=len(text),
        lines=text.count("\n") + 1,
        files=len(find_files(text)),
        multiplier=max([1.0, *found]),
        question="?" in said,
        asks=bool(_ASKS.search(said)),
        saves=bool(_SAVES.search(said)),
        builds=bool(_BUILDS.search(said)),
        checks=bool(_CHECKS.search(said)),
        kind=find_kind(said),
    )


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
FOLDERS: Final = FittedLine(start=8.702, terms={"named": 1.029}, low=-1.053, high=0.994)
NAMED: Final = FittedLine(start=9.557, terms={"named_files": 0.697}, low=-1.013, high=0.927)
LINES_BY_KIND: Final[Mapping[int, FittedLine]] = {  # of the others there were too few
    COMMIT: FittedLine(start=8.493, terms={}, low=-1.534, high=0.930),
    INVESTIGATE: FittedLine(start=9.816, terms={}, low=-2.470, high=1.637),
    IMPLEMENT: FittedLine(start=10.439, terms={}, low=-2.016, high=1.166),
}
