"""How alike two runs of steps are: by the files they touch and the words they use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt

from holdfast.segment.steps import Step

LEAST_WORDS = 5
SAME_FOLDER = 0.35  # what a file's folder counts beside the file itself


def lexical(one: Sequence[Step], other: Sequence[Step]) -> float:
    """Cosine of their words, 0 to 1; -1 where either says too little to be compared."""
    left, right = (_bag(step.words for step in side) for side in (one, other))
    return _cosine(left, right, least=LEAST_WORDS)


def by_files(one: Sequence[Step], other: Sequence[Step]) -> float:
    """Cosine of their files and folders; -1 where either touches none."""
    return _cosine(_places(one), _places(other), least=1)


def _bag(tables: Iterable[Mapping[str, int]]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for table in tables:
        counts.update(table)
    return {word: 1 + log(count) for word, count in counts.items()}


def _places(steps: Sequence[Step]) -> dict[str, float]:
    found: dict[str, float] = {}
    for step in steps:
        for name, how in step.files.items():
            found[name] = found.get(name, 0.0) + how
            folder = name.rpartition("/")[0] + "/"
            found[folder] = found.get(folder, 0.0) + how * SAME_FOLDER
    return {name: sqrt(weight) for name, weight in found.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float], least: int) -> float:
    if len(one) < least or len(other) < least:
        return -1.0
    shared = sum(weight * other[key] for key, weight in one.items() if key in other)
    length = sqrt(sum(w * w for w in one.values())) * sqrt(sum(w * w for w in other.values()))
    return shared / length if length else -1.0
