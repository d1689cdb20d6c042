"""How many tokens a task will take: a formula, corrected by what similar tasks used.

    (characters of its text / 4 + tokens of its files) x multiplier of its kind x correction

A file counts with its size, a file to create with 2,000 tokens. Without a correction the formula
is too low: half of 1,233 requests in public sessions took less than 2.7 times as much, eight in ten
between 1.1 and 7.3 times (`python -m benchmarks.estimates --corpus DIR`). What similar tasks used
on this machine replaces that the more of them there are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path

from holdfast.plan.project_files import ProjectFiles
from holdfast.plan.task import PlanTask
from holdfast.text.numbers import counted, rounded

CHARS_PER_TOKEN = 4
FILE_TOKENS = 2_000  # of a file that is not there yet
MOST_FILE_TOKENS = 10_000  # larger files are read in parts
ASSUMED_FILES = 3  # of a task that names none, and of a folder
LEAST_TOKENS = 2_000  # one percent of the smallest window
MOST_TOKENS = 1 << 40
MULTIPLIERS = {"refactor": 2.0, "implement": 1.5, "add": 1.2, "fix": 1.0, "update": 0.8}
GIVEN = "as given in the plan"
PUBLIC = (1.1, 2.7, 7.3)  # a tenth, half and nine tenths of public requests took less
PUBLIC_WORTH = 6  # they count as much as so many tasks on this machine
ALIKE = 2.0  # tasks of the same kind are similar up to this factor between their formulas
_KIND = re.compile(rf"\b({'|'.join(MULTIPLIERS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """The range holds eight in ten tasks; `inputs` shows the numbers that the estimate is made of.
    `is_unknown`: the plan names no file, so that a number of files was assumed."""

    tokens: int
    low_tokens: int
    high_tokens: int
    inputs: str
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class PastTask:
    """What a request used on this machine, and what the formula says of it."""

    multiplier: float
    formula_tokens: int
    used_tokens: int
    here: bool = False  # in this project


@dataclass(frozen=True, slots=True)
class Correction:
    """By how much similar tasks exceeded the formula: a tenth, half and nine tenths of them."""

    low: float
    middle: float
    high: float
    basis: str


@dataclass(frozen=True, slots=True)
class Past:
    """What tasks used on this machine. Corrections are worked out once for each size."""

    tasks: Sequence[PastTask] = ()
    _known: dict[tuple[float, int], Correction] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def correction(self, multiplier: float, formula_tokens: int) -> Correction:
        size = round(8 * log(max(1, formula_tokens)))
        key = (multiplier, size)
        if key not in self._known:
            self._known[key] = _correct(self._alike(multiplier, exp(size / 8)))
        return self._known[key]

    def _alike(self, multiplier: float, formula_tokens: float) -> list[PastTask]:
        low, high = formula_tokens / ALIKE, formula_tokens * ALIKE
        alike = [
            task
            for task in self.tasks
            if task.multiplier == multiplier and low <= task.formula_tokens <= high
        ]
        here = [task for task in alike if task.here]
        return here if len(here) >= PUBLIC_WORTH else alike


def _correct(alike: Sequence[PastTask]) -> Correction:
    """The quantiles of similar tasks, mixed with those of public sessions."""
    count = len(alike)
    logs = sorted(
        log(max(task.used_tokens, LEAST_TOKENS) / max(1, task.formula_tokens)) for task in alike
    )
    places = (count // 10, count // 2, count - 1 - count // 10)
    own = [logs[place] if logs else 0.0 for place in places]
    share = count / (count + PUBLIC_WORTH)
    mixed = (exp(share * a + (1 - share) * log(b)) for a, b in zip(own, PUBLIC, strict=True))
    low, middle, high = mixed
    basis = "as in public sessions"
    if count:
        where = "in this project" if all(task.here for task in alike) else "on this machine"
        basis = f"as {counted(count, 'similar task')} {where}"
    return Correction(low, middle, high, basis)


def find_kind(words: str) -> tuple[str, float]:
    """The word in the first line with the largest multiplier, and that; ("", 1.0) without one."""
    kinds = (kind.lower() for kind in _KIND.findall(words.partition("\n")[0]))
    kind = max(kinds, key=lambda name: MULTIPLIERS[name], default="")
    return kind, MULTIPLIERS.get(kind, 1.0)


def apply_formula(chars: int, file_tokens: int, multiplier: float) -> int:
    return int((chars // CHARS_PER_TOKEN + file_tokens) * multiplier)


def tokens_of_size(size: int | None) -> int:
    """What a file of so many bytes counts for; None: it is not there yet."""
    return FILE_TOKENS if size is None else min(MOST_FILE_TOKENS, size // CHARS_PER_TOKEN)


def estimate_of_plan(tokens: int, inputs: str = GIVEN) -> TaskEstimate:
    return TaskEstimate(tokens, tokens, tokens, inputs)


class Estimator:
    """Estimates tasks of one project."""

    def __init__(self, past: Past, root: Path) -> None:
        self._past, self._files = past, ProjectFiles(root)

    def estimate(self, task: PlanTask) -> TaskEstimate:
        if task.size_tokens is not None:
            return estimate_of_plan(task.size_tokens)
        words = "\n".join([task.words, *(step.words for step in task.open_subtasks)])
        kind, multiplier = find_kind(task.title)
        file_tokens, files = self._measure(task.all_paths)
        formula = apply_formula(len(words), file_tokens, multiplier)
        correction = self._past.correction(multiplier, formula)
        low, tokens, high = (
            min(MOST_TOKENS, max(LEAST_TOKENS, rounded(round(formula * factor))))
            for factor in (correction.low, correction.middle, correction.high)
        )
        text = f"{len(words) // CHARS_PER_TOKEN:,} for its text"
        named = f" ({kind})" if kind else ""
        inputs = (
            f"({text} + {file_tokens:,} for {files}) x {multiplier}{named}"
            f" x {correction.middle:.1f} ({correction.basis})"
        )
        if tokens == LEAST_TOKENS:
            inputs += f", at least {LEAST_TOKENS:,}"
        return TaskEstimate(tokens, low, high, inputs, is_unknown="assumed" in files)

    def _measure(self, paths: Sequence[str]) -> tuple[int, str]:
        """What the files count for, and how many there are of each kind."""
        folders = sum(self._files.is_folder(path) for path in paths)
        sizes = [self._files.size(path) for path in paths]
        new = sizes.count(None) - folders
        there = len(paths) - folders - new
        large = sum(
            size is not None and size > MOST_FILE_TOKENS * CHARS_PER_TOKEN for size in sizes
        )
        tokens = sum(tokens_of_size(size) for size in sizes) - folders * FILE_TOKENS
        assumed = ASSUMED_FILES * (folders or not paths)
        notes = [counted(there, "file")] if there else []
        notes += [f"{counted(new, 'file')} to create"] if new else []
        notes += [f"{counted(assumed, 'file')} in {counted(folders, 'folder')}"] if folders else []
        notes += [f"{counted(assumed, 'file')}, assumed"] if not paths else []
        words = ", ".join(notes)
        words += f" (of large ones {MOST_FILE_TOKENS:,})" if large else ""
        return tokens + assumed * FILE_TOKENS, words
